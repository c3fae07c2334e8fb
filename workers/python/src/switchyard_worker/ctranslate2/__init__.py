"""Whisper through CTranslate2: one `generate` for the windows of all requests that wait."""
