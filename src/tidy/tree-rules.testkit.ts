import { posix } from 'node:path'

/* Rules about file names and places, over the whole tree. */

/** Path → text of the project's text files. */
export type Tree = ReadonlyMap<string, string>

export type TreeRule = {
  readonly name: string
  readonly instead: string
  readonly find: (tree: Tree) => string[]
  /** Proof: a tree that breaks the rule, and one that does not. */
  readonly plant: Tree
  readonly spare: Tree
}

export const treeRules: readonly TreeRule[] = [
  {
    name: 'vague-file-name',
    instead: 'name the file after what it holds',
    find: (tree) =>
      [...tree.keys()].filter((path) => /(^|[/.-])(manager|helper|util|utilitie|misc|common-stuff)s?[.-]/i.test(path)),
    plant: new Map([['daemon/job-helpers.ts', '']]),
    spare: new Map([['daemon/job.ts', '']]),
  },
  {
    name: 'cron-file-name',
    instead: 'give the file the name of the cron it defines, in the folder of its feature',
    find: (tree) =>
      misnamed({ tree, folder: 'daemon/', pattern: /defineCron\(\{\s*name: '([^']+)'/, wordsOf: (name) => name }),
    plant: new Map([['daemon/features/payments/refund.ts', "export const a = defineCron({\n  name: 'auto-refund',"]]),
    spare: new Map([['daemon/features/payments/auto-refund.ts', "export const a = defineCron({ name: 'auto-refund',"]]),
  },
  {
    name: 'command-file-name',
    instead: 'the words typed begin with the path: commands/<noun>.ts or commands/<noun>/<verb>.ts',
    find: misplacedCommands,
    plant: new Map([['commands/jobs.ts', "export const a = defineCommand({\n  name: 'services list',"]]),
    spare: new Map([['commands/services.ts', "export const a = defineCommand({\n  name: 'services list',"]]),
  },
  {
    name: 'readme-names-a-lost-file',
    instead: 'name the file that does the work today, in the README and in docs/',
    find: (tree) => documentedPaths(tree).filter((path) => !exists(tree, path)),
    plant: new Map([['README.md', 'see `src/core/gone.ts`']]),
    spare: new Map([
      ['README.md', 'see `src/core/money.ts`, `daemon/features/*`, `commands/<noun>/<verb>.ts`'],
      ['src/core/money.ts', ''],
      ['daemon/features/jobs/routes.ts', ''],
    ]),
  },
  {
    name: 'dead-link',
    instead: 'link to a page that exists',
    find: (tree) => deadLinks(tree),
    plant: new Map([['docs/how-to/sell.md', 'see [the tutorial](start.md)']]),
    spare: new Map([
      ['docs/how-to/sell.md', 'see [the tutorial](../start.md#buy)'],
      ['docs/start.md', '## Buy'],
    ]),
  },
  {
    name: 'lost-heading',
    instead: 'cite a heading of docs/explain/decisions.md, by its number',
    find: (tree) => lostHeadings(tree),
    plant: new Map([
      ['docs/explain/decisions.md', '## 4. Payment'],
      ['src/a.ts', '// (decisions §5)'],
    ]),
    spare: new Map([
      ['docs/explain/decisions.md', '## 4. Payment'],
      ['src/a.ts', '// (decisions §4)'],
    ]),
  },
  {
    name: 'foreign-page',
    instead: 'cite a page of docs/, or a published standard',
    find: (tree) => codeOf(tree).flatMap(([path, text]) => (FOREIGN_PAGE.test(text) ? [path] : [])),
    plant: new Map([['src/a.ts', '// as design §4 has it']]),
    spare: new Map([['src/a.ts', '// as RFC 9110 §14.2 has it']]),
  },
  {
    name: 'lost-script',
    instead: 'name a script of package.json',
    find: (tree) => lostScripts(tree),
    plant: new Map([
      ['README.md', '    npm run fly'],
      ['package.json', '{"scripts":{"test":"vitest"}}'],
    ]),
    spare: new Map([
      ['README.md', '    npm ci && npm test'],
      ['package.json', '{"scripts":{"test":"vitest"}}'],
    ]),
  },
]

type Naming = {
  readonly tree: Tree
  readonly folder: string
  readonly pattern: RegExp
  readonly wordsOf: (name: string) => string
}

/** Files named differently from their first definition. */
function misnamed({ tree, folder, pattern, wordsOf }: Naming): string[] {
  return [...tree].flatMap(([path, text]) => {
    const name = path.startsWith(folder) && !path.includes('.test.') ? pattern.exec(text)?.[1] : undefined
    return name === undefined || (path.startsWith(folder) && path.endsWith(`/${wordsOf(name)}.ts`))
      ? []
      : [`${path} defines '${name}'`]
  })
}

/** Commands in the wrong file. */
function misplacedCommands(tree: Tree): string[] {
  return [...tree].flatMap(([path, text]) => {
    if (!path.startsWith('commands/') || path.includes('.test.')) return []
    const words = path.slice('commands/'.length, -'.ts'.length).replaceAll('/', ' ')
    const names = [...text.matchAll(/^export const \w+ = \w+\((?:\w+, )?\{\s*name: '([^']+)'/gm)].map(
      ([, name = '']) => name,
    )
    return names.filter((name) => !`${name} `.startsWith(`${words} `)).map((name) => `${path} defines '${name}'`)
  })
}

const CODE_SPAN = /`([^`\n]+)`/g
const LOCAL_PATH = /^(bin|src|daemon|commands|fixtures|\.ci|\.biome)\/[\w./*-]*$/

/** Repository paths in code spans of README and docs; placeholders are skipped. */
function documentedPaths(tree: Tree): string[] {
  const pages = [...tree].filter(([path]) => /^(README|docs\/[\w/-]+)\.md$/.test(path))
  const spans = pages.flatMap(([, text]) => [...text.matchAll(CODE_SPAN)].map((match) => match[1] ?? ''))
  return spans.filter((span) => LOCAL_PATH.test(span))
}

/** Relative links of the README and docs/ to files or headings that do not exist. */
function deadLinks(tree: Tree): string[] {
  return [...tree].flatMap(([path, text]) => {
    if (!/^(README|docs\/[\w/-]+)\.md$/.test(path)) return []
    const links = [...text.matchAll(/\]\(((?!https?:)[^)\s]*)\)/g)].map(([, link = '']) => link)
    return links.filter((link) => !isLive(tree, path, link)).map((link) => `${path} links to ${link}`)
  })
}

function isLive(tree: Tree, page: string, link: string): boolean {
  const [file = '', heading] = link.split('#')
  const target = tree.get(file === '' ? page : posix.join(posix.dirname(page), file))
  if (target === undefined) return heading === undefined && exists(tree, posix.join(posix.dirname(page), file))
  if (heading === undefined) return true
  const headings = [...target.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title)
  return headings.some(
    (title) =>
      title
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-') === heading,
  )
}

function exists(tree: Tree, path: string): boolean {
  const stem = path.replace(/\*.*$/, '')
  return (
    tree.has(path) ||
    [...tree.keys()].some((known) => known.startsWith(stem === path ? `${path.replace(/\/$/, '')}/` : stem))
  )
}

const SCRIPT = /\bnpm (?:run (?:--silent )?([a-z][\w:-]*)|(start|test)\b)/g

const CITED = /\bdecisions §(\d+)/gi
const FOREIGN_PAGE = /\b(design|ux|style|functions|storage|chain|packaging|house)(\.md)? §\d/

/** Code without the rules, which contain plants. */
function codeOf(tree: Tree): [string, string][] {
  return [...tree].filter(([path]) => /\.tsx?$/.test(path) && !path.startsWith('src/tidy/'))
}

/** Cited decisions that do not exist. */
function lostHeadings(tree: Tree): string[] {
  const headings = new Set(
    [...(tree.get('docs/explain/decisions.md') ?? '').matchAll(/^## (\d+)\./gm)].map(([, number]) => number),
  )
  return codeOf(tree).flatMap(([path, text]) => {
    const cited = [...text.matchAll(CITED)].map(([, number]) => number)
    return cited.filter((number) => !headings.has(number)).map((number) => `${path}: decisions §${number}`)
  })
}

/** Cited npm scripts that do not exist. */
function lostScripts(tree: Tree): string[] {
  const scripts = Object.keys(JSON.parse(tree.get('package.json') ?? '{}').scripts ?? {})
  const readable = [...tree].filter(([path]) => /^(?!src\/tidy\/).*\.(md|ts|tsx|cjs)$|^\.ci\//.test(path))
  return readable.flatMap(([path, text]) => {
    const named = [...text.matchAll(SCRIPT)].map((match) => match[1] ?? match[2] ?? '')
    return named.filter((name) => !scripts.includes(name)).map((name) => `${path}: ${name}`)
  })
}
