// Imports what it is told, as the first thing that a process does, and writes how many milliseconds it took.
const startMs = performance.now();
for (const specifier of process.argv.slice(2)) await import(specifier);
process.stdout.write(String(performance.now() - startMs));
