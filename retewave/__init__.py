"""retewave"""
