"""Why a match has not come: the deepest partial matches, and what refused the rest."""
