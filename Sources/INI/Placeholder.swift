// INI
