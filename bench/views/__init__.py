"""Views measured: sensors averaged over a sliding window, live solutions, pushes; peers that ask each window again."""
