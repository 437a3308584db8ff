"""Why a match has not come."""
