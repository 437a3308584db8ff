"""What all languages of windows share: how a window, a length of time and a report are written."""
