import { type Command } from 'commander';

const WIDTH = 120;
import { program } from '../../src/cli/program.js';
import { ENGINE_CHECKS } from '../../src/worker/engine-factory.js';

/** The whole command line. */
export const COMMAND_LINE = program(() => Promise.resolve(ENGINE_CHECKS));

/**
 * Every command that does something, in the order of the help, with the words that call
 * it, without the program's name; groups are left out.
 */
export function leafCommands(
  command: Command,
  words = '',
): readonly { readonly words: string; readonly command: Command }[] {
  if (command.commands.length === 0) return [{ words, command }];
  return command.commands.flatMap(child => leafCommands(child, `${words} ${child.name()}`.trim()));
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
