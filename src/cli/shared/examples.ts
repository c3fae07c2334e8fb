/**
 * The end of a command's help: lines without the program's name, or pipes with it; then
 * what else is good to know.
 */
export function examples(lines: readonly string[], notes = ''): string {
  const shown = lines.map(line =>
    line.includes('| switchyard ') ? `  ${line}` : `  switchyard ${line}`,
  );
  return `\nExamples:\n${shown.join('\n')}${notes && `\n\n${notes}`}`;
}
