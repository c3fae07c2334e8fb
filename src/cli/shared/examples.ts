/** The end of a command's help: lines without the program's name, or pipes with it; then what else is good to know. */
export const examples = (lines: readonly string[], notes = ''): string =>
  `\nExamples:\n${lines.map(line => (line.includes('| switchyard ') ? `  ${line}` : `  switchyard ${line}`)).join('\n')}${notes && `\n\n${notes}`}`;
