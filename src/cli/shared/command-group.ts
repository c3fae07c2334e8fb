import { Command } from 'commander';
import { type CommandFactory } from './command.js';

export const commandGroup =
  (name: string, about: string, commands: readonly CommandFactory[]): CommandFactory =>
  engines =>
    commands.reduce(
      (parent, make) => parent.addCommand(make(engines)),
      new Command(name).description(about),
    );
