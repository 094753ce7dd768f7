"""What a permute program does: executed with contributions instead of numbers."""
