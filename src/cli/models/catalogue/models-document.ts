import { readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  type Node,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { type EngineCheck, modelsFromFile } from '../../../platform/config/models-file.js';
import { ConfigError, parseYaml } from '../../../platform/config/yaml-file.js';
import { CliError } from '../../shared/cli-error.js';

/** Attempts, while another program saves the file again and again. */
const ATTEMPTS = 5;

/**
 * The list of models.yaml while it is changed. Comments and order of
 * everything else stay.
 */
export class ModelsDocument {
  private constructor(
    private readonly document: Document,
    private readonly list: YAMLSeq,
  ) {}

  /** @throws ConfigError for a file with errors */
  static parse(text: string, name: string, askEngine: EngineCheck): ModelsDocument {
    const file = parseYaml(text, name);
    const { problems } = modelsFromFile(file, askEngine);
    if (problems.length > 0) throw new ConfigError(problems);
    return new ModelsDocument(file.document, file.document.get('models') as YAMLSeq);
  }

  /** Replaces the entry of that id, or adds it at the end. */
  put(model: { readonly id: string }, comment: string): void {
    // `models: []`, as init writes it, would become one long line.
    if (this.list.items.length === 0) this.list.flow = false;
    const node = this.document.createNode(model) as YAMLMap & Node;
    visit(node, { Seq: (_, seq) => void (seq.flow = seq.items.every(isScalar)) });
    node.flow = this.list.flow ?? false;
    const at = this.#indexOf(model.id);
    // The comment of the first entry is one of the list.
    if (this.list.flow !== true && at !== 0) {
      node.commentBefore = ` ${comment}`;
      node.spaceBefore = this.list.items.length > 0;
    }
    if (at < 0) this.list.add(node);
    else this.list.set(at, node);
  }

  remove(id: string): void {
    const at = this.#indexOf(id);
    if (at >= 0) this.list.delete(at);
  }

  /** Names that no entry but `keeper` shall have as an alias any more. */
  freeAliases(names: readonly string[], keeper: string): void {
    for (const entry of this.list.items) {
      if (!isMap(entry) || entry.get('id') === keeper) continue;
      const aliases = entry.get('aliases');
      if (!isSeq(aliases)) continue;
      aliases.items = aliases.items.filter(
        alias => !isScalar(alias) || !names.includes(String(alias.value)),
      );
      if (aliases.items.length === 0) entry.delete('aliases');
    }
  }

  toString(): string {
    return this.document.toString({ lineWidth: 0 });
  }

  #indexOf(id: string) {
    return this.list.items.findIndex(entry => isMap(entry) && entry.get('id') === id);
  }
}

/**
 * The file as it would be. @throws ConfigError, also for what the edit would make of it
 */
export async function previewModels(
  { path, askEngine }: { readonly path: string; readonly askEngine: EngineCheck },
  edit: (models: ModelsDocument) => void,
) {
  const before = await readFile(path, 'utf8');
  const models = ModelsDocument.parse(before, path, askEngine);
  edit(models);
  const after = models.toString();
  ModelsDocument.parse(after, path, askEngine);
  return { before, after };
}

/**
 * Whole or not at all, and never over what was saved by hand meanwhile: then the edit is
 * made again on that.
 * @throws ConfigError for a file with errors; nothing was written
 */
export async function editModels(...[file, edit]: Parameters<typeof previewModels>): Promise<void> {
  const path = await realpath(file.path);
  const partial = `${path}.${process.pid}.partial`;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { before, after } = await previewModels(file, edit);
    if (after === before) return;
    try {
      await writeFile(partial, after, { mode: (await stat(path)).mode });
      if ((await readFile(path, 'utf8')) === before) return await rename(partial, path);
    } finally {
      await rm(partial, { force: true });
    }
  }
  throw new CliError(
    `${file.path} is being changed by another program; nothing was written. Try again`,
  );
}
