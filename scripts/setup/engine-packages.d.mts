export function repair(
  packages: readonly { readonly name: string; readonly brew?: string }[],
  platform?: NodeJS.Platform,
): string;
export function programFolders(path?: string, separator?: string): string[];
