"""What every part of certree needs: errors, registries, files and checked columns."""
