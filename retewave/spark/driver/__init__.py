"""The driver's side: the job, how it is spread, sessions, the DataFrame of matches."""
