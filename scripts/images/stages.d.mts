export function neededStages(text: string, target: string): string;
