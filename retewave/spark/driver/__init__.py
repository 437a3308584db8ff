"""What runs in the driver: the job, how it is spread, sessions, the DataFrame of matches."""
