import { say } from '../../shared/terminal.js';
import { installEnginePackages } from '../engines/engine-packages.js';
import { PythonEnvironment } from '../engines/python-environment.js';
import { type CatalogueEntry } from './catalogue.js';

interface Installing {
  readonly dataDir: string;
  /** Whether the libraries for an NVIDIA GPU are installed, too (default: no). */
  readonly cuda?: boolean;
  readonly signal: AbortSignal;
}

/** Installs the engine of a model of the catalogue. @throws CliError */
export async function installEngineOf(
  entry: CatalogueEntry,
  { dataDir, cuda = false, signal }: Installing,
): Promise<void> {
  if (entry.engine !== 'ctranslate2') {
    const report = (text: string) => say(`  ${text}`);
    return installEnginePackages(entry.entry.engine, { report, signal });
  }
  const python = new PythonEnvironment(dataDir);
  if (python.state().state === 'absent')
    say(`${entry.name}: the Python environment of CTranslate2, 0.5 GB, into ${dataDir}`);
  const report = (text: string) => {
    if (/^Downloading .*\d\d\.\d MB/.test(text)) say(`  ${text}`);
  };
  await python.install({ cuda, report, signal });
}
