"""The ASCII characters that kernels look for in bytes, by name."""

from __future__ import annotations

TAB, LF, FORM_FEED, CR, SPACE = ord("\t"), ord("\n"), ord("\f"), ord("\r"), ord(" ")
QUOTE, HASH, APOSTROPHE, STAR, PLUS = ord('"'), ord("#"), ord("'"), ord("*"), ord("+")
COMMA, MINUS, DOT = ord(","), ord("-"), ord(".")
COLON, LESS, GREATER, AT_SIGN, BACKSLASH, CARET = ord(":"), ord("<"), ord(">"), ord("@"), ord("\\"), ord("^")
UNDERSCORE, BACK_QUOTE = ord("_"), ord("`")
LEFT_BRACE, RIGHT_BRACE = ord("{"), ord("}")  # "|" is the one between
DIGIT_0, DIGIT_1, DIGIT_2, DIGIT_4, DIGIT_9 = ord("0"), ord("1"), ord("2"), ord("4"), ord("9")
UPPER_A, UPPER_D, UPPER_E, UPPER_H, UPPER_M = ord("A"), ord("D"), ord("E"), ord("H"), ord("M")
UPPER_P, UPPER_S, UPPER_T, UPPER_U, UPPER_Y, UPPER_Z = ord("P"), ord("S"), ord("T"), ord("U"), ord("Y"), ord("Z")
LOWER_A, LOWER_B, LOWER_E, LOWER_F, LOWER_N, LOWER_R = ord("a"), ord("b"), ord("e"), ord("f"), ord("n"), ord("r")
LOWER_T, LOWER_U, LOWER_Z = ord("t"), ord("u"), ord("z")
NOT_ASCII = 128  # bytes from here on are parts of longer characters
