/** First bytes of audio files, as browsers' recorders and file readers send them by mistake. */
const CONTAINERS: readonly (readonly [magic: Buffer, name: string])[] = [
  [Buffer.from('RIFF'), 'a WAV file'],
  [Buffer.from('OggS'), 'Ogg'],
  [Buffer.from('fLaC'), 'FLAC'],
  [Buffer.from('ID3'), 'MP3'],
  [Buffer.from([0x1a, 0x45, 0xdf, 0xa3]), 'WebM'],
];

/** What kind of container a first binary frame is; undefined: as far as one can tell, the raw audio that is wanted. */
export function containerOf(frame: Buffer): string | undefined {
  return CONTAINERS.find(([magic]) => frame.subarray(0, magic.length).equals(magic))?.[1];
}
