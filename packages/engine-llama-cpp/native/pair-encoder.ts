import { type CLibrary, type Pointer } from './c-library.js';

const PLACES = /(\{query\}|\{document\})/;
/** No token has this id: the vocabulary lacks the kind. */
const ABSENT = -1;

/**
 * A query and a document as one text, in the form that a reranking model was trained
 * with: its template `rerank`, or the tokens that begin, separate and end two texts. What
 * callers wrote never becomes a control token.
 */
export class PairEncoder {
  readonly #template: readonly string[];
  readonly #begin: readonly number[];
  readonly #between: readonly number[];
  readonly #end: readonly number[];

  constructor(
    library: CLibrary,
    model: Pointer,
    vocabulary: Pointer,
    private readonly tokenize: (
      text: string,
      options: { readonly special: boolean; readonly control: boolean },
    ) => Int32Array,
  ) {
    this.#template = library.template(model, 'rerank')?.split(PLACES) ?? [];
    const separator = one(
      library.separator(vocabulary),
      library.addsSeparator(vocabulary),
    );
    const last = library.endOfText(vocabulary);
    const end = one(
      last === ABSENT ? library.separator(vocabulary) : last,
      library.addsEnd(vocabulary),
    );
    this.#begin = one(
      library.beginningOfText(vocabulary),
      library.addsBeginning(vocabulary),
    );
    this.#between = [...end, ...separator];
    this.#end = end.length > 0 ? end : separator;
  }

  encode(query: string, documents: readonly string[]): Int32Array[] {
    const asked = this.#plain(query);
    return documents.map(document => {
      const told = this.#plain(document);
      if (this.#template.length > 1)
        return this.#templated({ '{query}': asked, '{document}': told });
      return Int32Array.from([
        ...this.#begin,
        ...asked,
        ...this.#between,
        ...told,
        ...this.#end,
      ]);
    });
  }

  #templated(texts: Readonly<Record<string, Int32Array>>): Int32Array {
    const pieces = this.#template.map(
      piece => texts[piece] ?? this.tokenize(piece, { special: false, control: true }),
    );
    return Int32Array.from(pieces.flatMap(tokens => [...tokens]));
  }

  #plain(text: string): Int32Array {
    return this.tokenize(text, { special: false, control: false });
  }
}

const one = (token: number, wanted: boolean): readonly number[] =>
  wanted && token !== ABSENT ? [token] : [];
