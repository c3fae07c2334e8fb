/**
 * Where the person stood who typed the command: names of files on the command line start there. npm runs its scripts in the
 * package's folder and keeps the other one in INIT_CWD, which our launcher does as well.
 */
export const launchDirectory = (environment: NodeJS.ProcessEnv = process.env): string =>
  environment.INIT_CWD ?? process.cwd();
