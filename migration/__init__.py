"""Rules, plans, gates and rehearsals of migrations."""
