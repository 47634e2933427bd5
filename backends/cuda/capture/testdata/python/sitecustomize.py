"""The program's own module of this name."""

import builtins

builtins.own_sitecustomize = True
