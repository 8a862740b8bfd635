/*
 * Line rules that Biome, tsc and dependency-cruiser cannot express. Each says what to write instead and proves
 * itself: `plant` must be flagged, `spare` must pass.
 */

export type LineRule = {
  readonly name: string
  readonly instead: string
  /** Paths of files to check. */
  readonly covers: RegExp
  readonly spares?: RegExp
  readonly pattern: RegExp
  /** A comment on or above the line excuses it. */
  readonly reasonExcuses?: true
  readonly plant: string
  readonly spare: string
}

const CODE = /\.(ts|tsx|cjs)$/
const TESTS = /\.test\.tsx?$/
const PRODUCT = /^(src|daemon|commands)\/.*\.tsx?$/
const TEXT = /(\.(ts|tsx|cjs|json|md|grit)|^\.ci\/\w+|^\.\w+)$/
const PROSE = /(\.(ts|tsx|cjs|md|grit)|^\.ci\/\w+)$/
const NOT_PRODUCT = /\.(test|fake|testkit)\.tsx?$/

/** Phrases of an older style that readers had to read twice. */
const ODD_WORDS =
  /\b(unless (said|told|given)|(is|are) to be\b|has to do with|at the bench|for good\b|nobody can be asked|was not expected|expected \w+, received)/

export const lineRules: readonly LineRule[] = [
  {
    name: 'double-cast',
    instead: 'narrow with a schema or a guard; if the types really cannot say it, give the reason in a comment',
    covers: CODE,
    pattern: /\bas unknown as\b/,
    reasonExcuses: true,
    plant: 'const a = b as unknown as C',
    spare: '// zod widens the record; the keys are the ones above\nconst a = b as unknown as C',
  },
  {
    name: 'type-check-off',
    instead: 'fix the type; in a type test use @ts-expect-error with the reason behind it',
    covers: CODE,
    pattern: /@ts-(ignore|nocheck)\b|@ts-expect-error\s*$/,
    plant: '// @ts-expect-error',
    spare: '// @ts-expect-error a paid row cannot reply with bytes',
  },
  {
    name: 'lint-off-without-reason',
    instead: 'write `biome-ignore lint/group/rule: <why it is right here>`, one rule at a time',
    covers: CODE,
    pattern: /biome-ignore(?!-end)(-\w+)?(?! (lint\/\w+\/\w+|format): \S.{9,})|eslint-disable|(v8|c8|istanbul) ignore/,
    plant: '// biome-ignore lint/suspicious/noExplicitAny: ok',
    spare: '// biome-ignore lint/complexity/useMaxParams: Express knows an error handler by its four parameters',
  },
  {
    name: 'own-module-mocked',
    instead: 'boot the real thing and pass a fake port (daemon/ports/*.fake.ts)',
    covers: TESTS,
    pattern:
      /\bvi\.(mock|doMock|unmock|hoisted)\(\s*(import\()?['"`]\.|\bvi\.(spyOn|mocked)\(\s*(?!process\b|console\b|globalThis\b)/,
    plant: "vi.mock('./store.ts')",
    spare: "vi.spyOn(process.stdout, 'write')",
  },
  {
    name: 'unfinished',
    instead: 'finish it, or leave it out and say so in the README',
    covers: TEXT,
    pattern: /\b(TODO|FIXME|XXX|HACK)\b/,
    plant: '// TODO: refund',
    spare: "const method = 'todo'",
  },
  {
    name: 'test-switched-off',
    instead:
      'make it pass or delete it; what the machine lacks is `it.skipIf(...)`, which .ci/run refuses to count as run',
    covers: TESTS,
    pattern: /\b(it|test|describe|suite)(\.\w+)*\.(skip|only|todo|fails)\b|\b(xit|xdescribe|fit|fdescribe)\(/,
    plant: "it.skip('pays', () => {})",
    spare: "it.skipIf(!hasTmux)('draws', () => {})",
  },
  {
    name: 'machine-path',
    instead: 'start from import.meta.dirname, os.tmpdir() or a path that is passed in',
    covers: TEXT,
    pattern: /(?<![\w.}>:/-])\/(root|Users|work|workspace|mnt)\/\w/,
    plant: `const data = '/${'root'}/data'`,
    spare: "const page = 'https://example.com/work/me'",
  },
  {
    name: 'registry-host',
    instead: 'leave the registry to the user: npm knows it',
    covers: /(\.(ts|json|md|cjs)|^\.npmrc|^\.ci\/\w+)$/,
    pattern: /\bregistry\.[\w-]+\.[a-z]{2,}\b|^registry\s*=|"resolved": "http|\b(verdaccio|artifactory|jfrog)\b/,
    plant: 'registry=https://packages.example.com',
    spare: 'omit-lockfile-registry-resolved=true',
  },
  {
    name: 'workplace',
    instead: 'write for the reader of this repository alone: state the fact itself',
    covers: PROSE,
    pattern:
      /\b(this|previous|earlier|last|next|another|my) session\b|\bissue #?\d+|\b(fixes|closes|see) #\d|\.\.\/shared(?![-\w])|\bthe brief\b|\bas (discussed|requested|instructed)\b|\bdesign\.md\b/i,
    plant: '// as discussed in the last session',
    spare: "await tmux('new-session')",
  },
  {
    name: 'invisible-character',
    instead: 'write the character as an escape',
    covers: TEXT,
    // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is this rule's work
    pattern: /[\u0000-\u0008\u000b-\u001f\u007f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]/,
    plant: "const a = '\u0007'",
    spare: "const a = '\\u0007'",
  },
  {
    name: 'loose-whitespace',
    instead: 'end the line at its last letter; indent with spaces',
    covers: /(\.(md|grit|cjs|ts|tsx)|^\.ci\/\w+)$/,
    pattern: /[ \t]+$|^ *\t/,
    plant: 'a line ',
    spare: '  a line',
  },
  {
    name: 'class',
    instead: 'write plain functions over a typed record; classes are for errors',
    covers: PRODUCT,
    pattern: /^\s*(export )?(abstract )?class \w+\b(?!(<.*>)? extends \w*Error\b)/,
    plant: 'export class Ledger {',
    spare: 'export class AppError extends Error {',
  },
  {
    name: 'endless-mkdir',
    instead: 'use makeFolder of src/core/folder.ts: under /proc the recursive mkdir of Node never ends',
    covers: PRODUCT,
    spares: NOT_PRODUCT,
    pattern: /\bmkdir(Sync)?\(.*\brecursive: true/,
    plant: 'mkdirSync(path, { recursive: true })',
    spare: 'await mkdir(folder, { mode: 0o700 })',
  },
  {
    name: 'swallowed-rejection',
    instead: 'let it reject, handle it, or say in a comment why nothing is lost',
    covers: PRODUCT,
    spares: NOT_PRODUCT,
    pattern: /\.catch\(\s*(\(\w*\)|\w+)\s*=>\s*(\{\s*\}|undefined|null|void 0|\[\]|false)\s*\)/,
    reasonExcuses: true,
    plant: 'await close().catch(() => undefined)',
    spare: 'await close().catch(() => undefined) // the peer is gone already; the reply was durable before',
  },
  {
    name: 'bare-delay',
    instead: 'name the delay, with its unit: `setTimeout(run, RETRY_MS)`',
    covers: PRODUCT,
    spares: NOT_PRODUCT,
    pattern: /\b(setTimeout|AbortSignal\.timeout|sleep|delay)\((.*[,(]\s*)?[\d_]{2,}\s*\)/,
    plant: 'setTimeout(run, 250)',
    spare: 'setTimeout(run, RETRY_MS)',
  },
  {
    name: 'suggestion-as-text',
    instead: 'spell it with io.hint(…) or put it into `next` of an error: so it names the program and place in force',
    covers: /^(commands|src\/(cli|lifecycle|provider|market))\/.*\.ts$/,
    spares: NOT_PRODUCT,
    pattern: /→ souk |\bio\.(line|note|say|warn)\((?!.*hint\().*\bsouk [a-z]/,
    plant: "io.line('→ souk up')",
    spare: "io.line(io.hint('souk up'))",
  },
  {
    name: 'direct-output',
    instead: 'return the data; src/cli/ writes stdout, the daemon logs through its logger',
    covers: /^(commands|daemon|src\/(core|model|api|client))\/.*\.ts$/,
    spares: NOT_PRODUCT,
    pattern: /\bprocess\.(stdout|stderr)\b/,
    plant: "process.stdout.write('done')",
    spare: 'return { done: true }',
  },
  {
    name: 'timed-assertion',
    instead: 'assert the effect; speed belongs to `npm run bench`',
    covers: TESTS,
    pattern: /expect\([^)]*\b(Date|performance)\.now\(\)/,
    plant: 'expect(performance.now() - start).toBeLessThan(50)',
    spare: 'expect(clock.now()).toBe(5)',
  },
  {
    name: 'fixed-port',
    instead: 'listen on 127.0.0.1, port 0, and read the port back',
    covers: TESTS,
    pattern: /\.listen\(\s*(\{.*\bport:\s*)?[1-9]\d*|\bport: [1-9]\d{3,4}\b.*listen/,
    plant: "server.listen(4020, '127.0.0.1')",
    spare: "server.listen(0, '127.0.0.1')",
  },
  {
    name: 'snapshot-file',
    instead: 'write the expected value in the test',
    covers: TESTS,
    pattern: /\.(toMatchSnapshot|toMatchFileSnapshot)\(/,
    plant: 'expect(page).toMatchSnapshot()',
    spare: 'expect(page).toMatchInlineSnapshot(`a`)',
  },
  {
    name: 'loose-version',
    instead: 'pin the exact version',
    covers: /^package\.json$/,
    pattern: /^\s+"[@\w./-]+": "([~^*]|latest|[<>]=?\d)/,
    plant: '    "zod": "^4.0.0"',
    spare: '    "zod": "4.0.0"',
  },
  {
    name: 'odd-words',
    instead: 'say it in standard words: (default: X), permanently, no terminal to ask on',
    covers: PRODUCT,
    spares: NOT_PRODUCT,
    pattern: new RegExp(`^(?!\\s*(/\\*|\\*|//)).*['"\`][^'"\`]*${ODD_WORDS.source}`),
    plant: "description: 'how many; 20 unless told'",
    spare: '// unless told, it is the last one',
  },
  {
    name: 'odd-words-in-docs',
    instead: 'say it in standard words',
    covers: /^(README|docs\/[\w/-]+)\.md$/,
    pattern: ODD_WORDS,
    plant: 'The port is 4020 unless given.',
    spare: 'The port is 4020 (default).',
  },
  {
    name: 'long-paragraph',
    instead: 'keep a paragraph within six lines; make facts a table or a list',
    covers: /^(README|docs\/[\w/-]+)\.md$/,
    pattern: /^(?![|#<]).{601,}/,
    plant: 'word '.repeat(121),
    spare: 'word '.repeat(119),
  },
  {
    name: 'summary-without-verb',
    instead: 'begin with a verb or a noun: "list your jobs", "seller reputation"',
    covers: PRODUCT,
    spares: NOT_PRODUCT,
    pattern: /\bsummary: ['"`](what|who|whom|whose|that|how|whether|which|why)\b/,
    plant: "summary: 'whom to buy from, and why',",
    spare: "summary: 'seller reputation',",
  },
  {
    name: 'default-in-milliseconds',
    instead: 'write the default with the unit that people use: (default: 5s)',
    covers: PRODUCT,
    spares: NOT_PRODUCT,
    pattern: /default:? \d{4,} ?ms\b/,
    plant: "description: 'wait between tries (default: 5000 ms)'",
    spare: "description: 'wait between tries (default: 5s)'",
  },
]

const COMMENT_ALONE = /^\s*(\/\/|\*|\/\*)/
const COMMENT_BEHIND = /\s\/\/ \S.{9,}/

/** Lines that break a rule, from 1. */
export function brokenLines(rule: LineRule, text: string): number[] {
  const lines = text.split('\n')
  const excused = (index: number) =>
    rule.reasonExcuses === true &&
    (COMMENT_BEHIND.test(lines[index] ?? '') || COMMENT_ALONE.test(lines[index - 1] ?? ''))
  return lines.flatMap((line, index) => (rule.pattern.test(line) && !excused(index) ? [index + 1] : []))
}

/** Whether a rule applies to a file. */
export function covers(rule: LineRule, path: string): boolean {
  return rule.covers.test(path) && rule.spares?.test(path) !== true
}
