# Makes a file a text of C: a string a line, between the beginning and the end that the build adds.
s/[\\"]/\\&/g
s/.*/    "&\\n"/
