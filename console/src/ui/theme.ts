import { effect, signal } from '@preact/signals';

type Theme = 'light' | 'dark';

const KEY = 'switchyard.theme';
const dark = matchMedia('(prefers-color-scheme: dark)');
const stored = localStorage.getItem(KEY);
const system = (): Theme => (dark.matches ? 'dark' : 'light');

/** The theme of the system, until one is chosen. */
export const theme = signal<Theme>(stored === 'light' || stored === 'dark' ? stored : system());
dark.addEventListener('change', () => {
  if (!localStorage.getItem(KEY)) theme.value = system();
});
effect(() => void (document.documentElement.dataset.theme = theme.value));

export function switchTheme(): void {
  theme.value = theme.value === 'dark' ? 'light' : 'dark';
  localStorage.setItem(KEY, theme.value);
}
