import { Command } from 'commander';
import { modelsCheckCommand } from './models-check.js';
import { modelsListCommand } from './models-list.js';
import { modelsPullCommand } from './models-pull.js';
import { modelsRemoveCommand } from './models-remove.js';

export const modelsCommand = (): Command =>
  new Command('models')
    .description('model files: pull, list, check, remove')
    .addCommand(modelsListCommand())
    .addCommand(modelsPullCommand())
    .addCommand(modelsRemoveCommand())
    .addCommand(modelsCheckCommand());
