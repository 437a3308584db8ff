"""Why a match has not come: the deepest partial matches, and the causes that refused the rest."""
