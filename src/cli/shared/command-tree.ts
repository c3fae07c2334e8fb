import { type Command } from 'commander';

/** A command with the words that call it, without the program's name. */
interface NamedCommand {
  readonly words: string;
  readonly command: Command;
}

const WIDTH = 120;

/** Every command that does something, in the order of the help; groups are left out. */
export function leafCommands(command: Command, words = ''): readonly NamedCommand[] {
  if (command.commands.length === 0) return [{ words, command }];
  return command.commands.flatMap(child =>
    leafCommands(child, `${words} ${child.name()}`.trim()),
  );
}

/** What `--help` prints without a terminal: 120 columns, no colours. */
export function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: part => (text += part),
    getOutHelpWidth: () => WIDTH,
  });
  command.outputHelp();
  return text.trimEnd();
}
