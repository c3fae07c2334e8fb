export function versionsElsewhere(): Readonly<Record<string, readonly string[]>>;
export function changelogSection(text: string, version: string): string;
export function hasUnreleased(text: string): boolean;
