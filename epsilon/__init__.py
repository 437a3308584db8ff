"""epsilon"""
