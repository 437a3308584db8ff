"""rete"""
