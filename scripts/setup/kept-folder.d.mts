/** What is kept outside the clone, of this clone and of others. */
export declare const CACHE: string;
