/**
 * What a person types: `npx switchyard` where npm runs the command, since there may
 * be no other.
 */
export const ownName = (environment: NodeJS.ProcessEnv = process.env): string =>
  environment.npm_command === 'exec' ? 'npx switchyard' : 'switchyard';
