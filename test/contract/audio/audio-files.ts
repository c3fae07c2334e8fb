import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file that each decoder gets. */
export interface AudioFile {
  readonly name: string;
  readonly bytes: Buffer;
  /** Seconds that must be heard; a range where damage costs some; else the code of the refusal. */
  readonly heard: number | readonly [least: number, most: number] | string;
}

const SECONDS = 1.2;
/** Loud and soft by turns, so that the course of it can be compared. */
const LEVEL = '0.4*(0.6+0.4*sin(5*PI*t))';
const tone = (hertz: number): string => `${LEVEL}*sin(2*PI*${hertz}*t)`;

const MONO = 0;
const STEREO = 1;
/** Right is the opposite of left. */
const OPPOSITE = 2;
const SURROUND = 3;
const PICTURE = 4;
const SHORT = 5;
const INPUTS = [
  ['-f', 'lavfi', '-i', `aevalsrc=${tone(440)}:d=${SECONDS}:s=44100`],
  ['-f', 'lavfi', '-i', `aevalsrc=${tone(440)}|0.5*${tone(440)}:d=${SECONDS}:s=44100`],
  ['-f', 'lavfi', '-i', `aevalsrc=${tone(440)}|-${tone(440)}:d=${SECONDS}:s=44100`],
  [
    ...['-f', 'lavfi', '-i'],
    `aevalsrc=0|0|${tone(440)}|0|0.1*${tone(440)}|0:d=${SECONDS}:s=48000:c=5.1`,
  ],
  ['-f', 'lavfi', '-i', `color=s=32x32:r=10:d=${SECONDS}`],
  ['-f', 'lavfi', '-i', `aevalsrc=${tone(880)}:d=0.5:s=44100`],
].flat();

type Making = readonly [name: string, input: number, options: string];

const PLAIN: readonly Making[] = [
  ['a.wav', MONO, '-c:a pcm_s16le'],
  ['16k.wav', MONO, '-c:a pcm_s16le -ar 16000'],
  ['8bit.wav', MONO, '-c:a pcm_u8'],
  ['24bit.wav', MONO, '-c:a pcm_s24le'],
  ['32bit.wav', MONO, '-c:a pcm_s32le'],
  ['float.wav', MONO, '-c:a pcm_f32le'],
  ['double.wav', MONO, '-c:a pcm_f64le'],
  ['alaw.wav', MONO, '-c:a pcm_alaw -ar 8000'],
  ['mulaw.wav', MONO, '-c:a pcm_mulaw -ar 8000'],
  ['adpcm-ms.wav', MONO, '-c:a adpcm_ms'],
  ['adpcm-ima.wav', MONO, '-c:a adpcm_ima_wav'],
  ['large.wav', MONO, '-c:a pcm_s16le -rf64 always'],
  ['96k.wav', STEREO, '-c:a pcm_s16le -ar 96000'],
  ['11k.wav', MONO, '-c:a pcm_s16le -ar 11025'],
  ['a.w64', MONO, '-c:a pcm_s16le'],
  ['a.aiff', MONO, '-c:a pcm_s16be'],
  ['a.au', MONO, '-c:a pcm_s16be'],
  ['a.caf', MONO, '-c:a pcm_s16be'],
  ['alac.caf', MONO, '-c:a alac'],
  ['a.mp3', MONO, '-c:a libmp3lame -b:a 64k'],
  ['stereo.mp3', STEREO, '-c:a libmp3lame -b:a 64k'],
  ['22k.mp3', MONO, '-c:a libmp3lame -ar 22050'],
  ['variable.mp3', MONO, '-c:a libmp3lame -q:a 4'],
  ['no-header.mp3', MONO, '-c:a libmp3lame -write_xing 0 -id3v2_version 0'],
  ['mp2.mp3', MONO, '-f mp2 -c:a mp2'],
  ['a.aac', MONO, '-c:a aac'],
  ['stereo.aac', STEREO, '-c:a aac'],
  ['a.flac', MONO, '-c:a flac -frame_size 1152'],
  ['stereo.flac', STEREO, '-c:a flac'],
  ['24bit.flac', STEREO, '-c:a flac -sample_fmt s32'],
  ['a.ogg', MONO, '-c:a libvorbis -page_duration 100000'],
  ['flac.ogg', MONO, '-c:a flac'],
  ['speex.ogg', MONO, '-c:a libspeex -ar 16000'],
  ['a.opus', MONO, '-c:a libopus -page_duration 100000'],
  ['stereo.opus', STEREO, '-c:a libopus'],
  ['a.webm', MONO, '-c:a libopus'],
  ['vorbis.webm', STEREO, '-c:a libvorbis'],
  ['a.mka', MONO, '-c:a libmp3lame'],
  ['pcm.mka', STEREO, '-c:a pcm_s16le'],
  ['a.m4a', MONO, '-c:a aac'],
  ['index-first.m4a', MONO, '-c:a aac -movflags +faststart'],
  ['pieces.mp4', MONO, '-c:a aac -movflags frag_keyframe+empty_moov'],
  ['opus.mp4', MONO, '-c:a libopus'],
  ['flac.mp4', MONO, '-strict -2 -c:a flac'],
  ['alac.m4a', STEREO, '-c:a alac'],
  ['pcm.mov', MONO, '-c:a pcm_s16le'],
  ['a.3gp', MONO, '-c:a aac'],
  ['a.3g2', MONO, '-c:a aac'],
  ['a.wma', MONO, '-c:a wmav2'],
  ['one.wma', STEREO, '-c:a wmav1'],
  ['a.ts', MONO, '-c:a aac'],
  ['mp3.ts', STEREO, '-c:a libmp3lame'],
  ['a.mpg', MONO, '-c:a mp2'],
  ['a.ac3', STEREO, '-c:a ac3'],
  ['a.avi', MONO, '-c:a libmp3lame'],
  ['pcm.avi', STEREO, '-c:a pcm_s16le'],
  ['surround.wav', SURROUND, '-c:a pcm_s16le'],
  ['surround.flac', SURROUND, '-c:a flac'],
  ['surround.ac3', SURROUND, '-c:a ac3'],
  ['surround.m4a', SURROUND, '-c:a aac'],
  ['surround.opus', SURROUND, '-c:a libopus -mapping_family 1'],
  ['opposite.wav', OPPOSITE, '-c:a pcm_s16le'],
  ['opposite-16k.wav', OPPOSITE, '-c:a pcm_s16le -ar 16000'],
  ['opposite.flac', OPPOSITE, '-c:a flac'],
  ['opposite.mp3', OPPOSITE, '-c:a libmp3lame -b:a 128k'],
  ['opposite.m4a', OPPOSITE, '-c:a aac'],
  ['opposite.ogg', OPPOSITE, '-c:a libvorbis'],
];

/** With a picture, or several tracks: `-map` says all. */
const MAPPED: readonly (readonly [name: string, options: string])[] = [
  ['film.mp4', `-map ${PICTURE} -map ${MONO} -c:v mpeg4 -c:a aac`],
  ['film.mkv', `-map ${PICTURE} -map ${STEREO} -c:v mpeg4 -c:a libopus`],
  ['film.avi', `-map ${PICTURE} -map ${MONO} -c:v mpeg4 -c:a libmp3lame`],
  ['film.ts', `-map ${PICTURE} -map ${MONO} -c:v mpeg2video -c:a aac`],
  ...['mkv', 'm4a', 'mov'].flatMap(extension => [
    [`first-of-two.${extension}`, `-map ${MONO} -map ${SHORT} ${tracks(0)}`] as const,
    [`second-of-two.${extension}`, `-map ${SHORT} -map ${MONO} ${tracks(1)}`] as const,
  ]),
  ['more-channels.mkv', `-map ${SHORT} -map ${STEREO} ${tracks()}`],
  ['more-channels.ts', `-map ${SHORT} -map ${STEREO} -c:a aac`],
];

/** @param chosen the track that players choose */
function tracks(chosen?: number): string {
  const marks = [0, 1].map(at => `-disposition:a:${at} ${at === chosen ? 'default' : '0'}`);
  return `${marks.join(' ')} -c:a aac`;
}

/** What players and servers stream, and so loses, doubles or damages parts. */
const STREAMED = [
  'a.mp3',
  'a.aac',
  'a.flac',
  'a.ogg',
  'a.opus',
  'a.webm',
  'a.ts',
  'a.wav',
  'a.mka',
];

const damages: Readonly<Record<string, (file: Buffer) => Buffer>> = {
  'cut off': file => file.subarray(0, Math.floor(file.length * 0.7)),
  '300 bytes lost': file =>
    Buffer.concat([file.subarray(0, placeIn(file)), file.subarray(placeIn(file) + 300)]),
  '100 bytes overwritten': file => {
    const copy = Buffer.from(file);
    for (let at = 0; at < 100; at += 1) copy[placeIn(file) + at] = (at * 37) % 256;
    return copy;
  },
  'bytes behind it': file => Buffer.concat([file, Buffer.from('x'.repeat(1000))]),
};

/** Behind the headers of the codec. */
const placeIn = (file: Buffer): number => Math.floor(file.length * 0.8);

/** About 150 files, made by one ffmpeg and a few cuts. @param folder for what ffmpeg writes */
export function audioFiles(folder: string): readonly AudioFile[] {
  const mapped = PLAIN.map(([name, input, options]) => [name, `-map ${input} ${options}`] as const);
  const outputs = [...mapped, ...MAPPED, ['mute.mp4', `-map ${PICTURE} -c:v mpeg4`] as const];
  execFileSync('ffmpeg', [
    ...['-y', '-loglevel', 'error', ...INPUTS],
    ...outputs.flatMap(([name, options]) => [...options.split(' '), join(folder, name)]),
  ]);
  const made = (name: string): Buffer => readFileSync(join(folder, name));
  const whole = [...mapped, ...MAPPED].map(([name]) => ({
    name,
    bytes: made(name),
    heard: SECONDS,
  }));
  return [...whole, ...damaged(made), ...joined(made), ...oddWaves(made), ...refused(made)];
}

const damaged = (made: (name: string) => Buffer): AudioFile[] =>
  STREAMED.flatMap(name =>
    Object.entries(damages).map(([damage, change]) => ({
      name: `${name}, ${damage}`,
      bytes: change(made(name)),
      heard: damage === 'bytes behind it' ? SECONDS : ([0.3, SECONDS + 0.1] as const),
    })),
  );

const JOINED = [
  ['a.mp3', 'stereo.mp3'],
  ['stereo.mp3', 'a.mp3'],
  ['a.mp3', '22k.mp3'],
  ['a.aac', 'stereo.aac'],
  ['a.opus', 'a.opus'],
  ['a.ts', 'a.ts'],
] as const;

const joined = (made: (name: string) => Buffer): AudioFile[] =>
  JOINED.map(([first, second]) => ({
    name: `${first} + ${second}`,
    bytes: Buffer.concat([made(first), made(second)]),
    heard: 2 * SECONDS,
  }));

const HEADER = 44;

/** WAV files whose lengths or chunks are not what they should be. */
function oddWaves(made: (name: string) => Buffer): AudioFile[] {
  return ['16k.wav', 'a.wav'].flatMap(name => {
    const file = made(name);
    const data = file.indexOf('data');
    const [head, samples] = [file.subarray(0, data), file.subarray(data + 8)];
    const chunk = (id: string, body: Buffer, length = body.length): Buffer => {
      const header = Buffer.from(`${id}0000`);
      header.writeUInt32LE(length, 4);
      return Buffer.concat([header, body]);
    };
    const half = samples.subarray(0, (samples.length >> 2) * 2);
    const rest = samples.subarray(half.length);
    const format = head.subarray(12, 36);
    const riff = head.subarray(0, 12);
    const list = chunk('LIST', Buffer.from('INFOISFT\x04\0\0\0abc\0'));
    const heard = SECONDS;
    const odd = (what: string, bytes: Buffer[], seconds: AudioFile['heard'] = heard) => ({
      name: `${name}, ${what}`,
      bytes: Buffer.concat(bytes),
      heard: seconds,
    });
    return [
      odd('data of length 0', [head, chunk('data', samples, 0)]),
      odd('data of length 4 GiB', [head, chunk('data', samples, 0xffffffff)]),
      odd('data that is longer than the file', [
        head,
        chunk('data', samples, samples.length + 5000),
      ]),
      odd(
        'data that is shorter than the file',
        [head, chunk('data', samples, half.length)],
        heard / 2,
      ),
      odd('an odd byte at the end', [
        head,
        chunk('data', Buffer.concat([samples, Buffer.from('x')])),
      ]),
      odd('two data chunks', [head, chunk('data', half), chunk('data', rest)], [heard / 2, heard]),
      odd('a list between', [riff, format, list, chunk('data', samples)]),
      odd('a list behind', [riff, format, chunk('data', samples), list]),
      odd('no samples', [riff, format, chunk('data', Buffer.alloc(0))], 'audio_too_short'),
    ];
  });
}

const refused = (made: (name: string) => Buffer): AudioFile[] =>
  Object.entries({
    text: Buffer.from('this is text, renamed to .wav\n'.repeat(20)),
    zeros: Buffer.alloc(5000),
    'a play list': Buffer.from('#EXTM3U\n#EXTINF:1,\nfile:///etc/hostname\n'),
    'a list of files': Buffer.from("ffconcat version 1.0\nfile '/etc/hostname'\n"),
    'the first bytes of an mp3': made('a.mp3').subarray(0, 60),
    'half a header of WAV': made('a.wav').subarray(0, HEADER >> 1),
    'an m4a without its index': made('a.m4a').subarray(0, made('a.m4a').length >> 1),
    'a film without sound': made('mute.mp4'),
  }).map(([name, bytes]) => ({ name, bytes, heard: 'invalid_audio' }));

/** Writes each under its number. @returns their paths */
export const writeFiles = (folder: string, files: readonly AudioFile[]): readonly string[] =>
  files.map(({ bytes }, at) => {
    const path = join(folder, `file-${at}`);
    writeFileSync(path, bytes);
    return path;
  });
