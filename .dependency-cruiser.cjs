// The import law: one ordered list of rooms, and each imports only those before it. Tests may import anything.
const TEST = '\\.(test|testkit)\\.tsx?$'
const OURS = '^(bin|src|daemon|commands|fixtures)/'

/**
 * The rooms of the house, lowest floor first. A room may import those before it in its own list, and all of `shared`;
 * itself always. What stands beside it in `narrower` may import less.
 */
const shared = [
  'src/core',
  'src/model',
  'src/schema',
  'src/api/endpoint',
  'src/api/sections',
  'src/api',
  'src/api/openapi',
]
const front = [
  'src/text',
  'src/client',
  'src/nouns',
  'src/tui/parts',
  'src/tui/shell',
  'src/tui/list',
  'src/tui/feed',
  'src/tui/job',
  'src/tui/clock',
  'src/tui/crons',
  'src/tui/jobs',
  'src/tui/logs',
  'src/tui/overview',
  'src/tui/money',
  'src/tui/people',
  'src/tui/requests',
  'src/tui/services',
  'src/tui',
  'src/cli',
  'src/cli/naming',
  'src/cli/wallet',
  'src/cli/files',
  'src/cli/run',
  'src/cli/nouns',
  'src/market',
  'src/provider',
  'src/mcp',
  'src/lifecycle',
  'commands',
]
const features = [
  'sanctions',
  'ledger',
  'escrow',
  'verification',
  'stats',
  'test-money',
  'payouts',
  'listings',
  'payments',
  'webhooks',
  'referrals',
  'products',
  'threads',
  'subscriptions',
  'jobs',
  'sales',
  'postings',
  'negotiation',
  'reputation',
  'audit',
  'catalog',
  'backup',
  'attention',
  'figures',
  'story',
  'participants',
  'discovery',
  'facilitator',
  'operator',
  'export',
]
const back = [
  'daemon/store',
  'daemon/ports',
  'daemon/features/first-party',
  'daemon/kernel',
  'daemon/engines',
  'daemon/endpoint',
  'daemon/events',
  'daemon/features/traces',
  'daemon/crons',
  ...features.map((name) => `daemon/features/${name}`),
  'daemon/http',
  'daemon/app',
]
const narrower = {
  'src/model': ['src/core'],
  'src/text': ['src/core'],
  'daemon/store': ['src/core', 'src/model'],
  'daemon/ports': ['src/core', 'src/model', 'daemon/store'],
  'daemon/features/first-party': ['src/core', 'src/model', 'src/schema', 'daemon/ports'],
  'src/schema': ['src/core', 'src/model'],
}

/** Files of a room: its folder and all within, but for rooms of their own inside it. */
function filesOf(room) {
  const inside = [...shared, ...front, ...back].filter((other) => other.startsWith(`${room}/`))
  const names = inside.map((other) => other.slice(room.length + 1))
  const rest = names.length === 0 ? '' : `(?!(${names.join('|')})/)`
  return room === 'daemon/app' ? '^daemon/(app(/|\\.ts$)|outside\\.ts$)' : `^${room}/${rest}`
}

/** The imports that each room may make, by room. */
function reachOf(rooms) {
  const below = rooms === shared ? [] : shared
  return rooms.map((room, floor) => [room, narrower[room] ?? [...below, ...rooms.slice(0, floor)]])
}
const reach = [...reachOf(shared), ...reachOf(front), ...reachOf(back)]

const roomRules = reach.map(([room, may]) => ({
  name: `room-${room.replaceAll('/', '-')}`,
  severity: 'error',
  comment: `a room imports those below it: ${may.join(', ') || 'nothing of ours'}`,
  from: { path: filesOf(room), pathNot: TEST },
  to: { path: OURS, pathNot: ['^package\\.json$', filesOf(room), ...may.map(filesOf)] },
}))

/** Files that only reckon: state tables, the legs of entries, scores, periods. */
const PURE =
  '^(daemon/features/[^/]+/([\\w-]*machine|legs|split|periods|score|verdict|shares|checks|faults|plausible|audience|proposal)\\.ts$|src/schema/)'

/** A package (or folder of ours) that only the named files may import, in whatever form. */
const onlyFrom = ({ name, to, from, comment }) => ({
  name,
  severity: 'error',
  comment,
  from: { path: OURS, pathNot: [from, TEST, '^bin/(bench|soak)/'] },
  to: { path: to },
})

const npm = (names) => `(^|/)node_modules/(${names})/`

/** The files that every command loads at start. */
const START_PATH = '^(bin/souk\\.ts$|commands/|src/(core|model|api|text|client|cli|lifecycle|provider)/)'

module.exports = {
  forbidden: [
    ...roomRules,
    {
      name: 'daemon-door',
      severity: 'error',
      comment: 'the daemon has one door: daemon/index.ts; bin hands it to the command line',
      from: { path: '^bin/souk\\.ts$' },
      to: { path: '^daemon/', pathNot: '^daemon/index\\.ts$' },
    },
    {
      name: 'cockpit-stands-aside',
      severity: 'error',
      comment: 'only the command that opens the cockpit loads it, by import()',
      from: { path: '^src/(cli|provider|lifecycle)/', pathNot: TEST },
      to: { path: '^src/tui/' },
    },
    {
      name: 'pure-files-use-no-node',
      severity: 'error',
      comment:
        'state tables and sums are pure: pass the value in instead of importing a Node module; a digest and a comparison are pure too',
      from: { path: PURE, pathNot: TEST },
      to: { dependencyTypes: ['core'], pathNot: '^(crypto|util)$' },
    },
    onlyFrom({
      name: 'express-only-in-server',
      to: npm('express'),
      from: '^daemon/http/server\\.ts$',
      comment: 'only daemon/http/server.ts imports express; handlers return values',
    }),
    onlyFrom({
      name: 'lowdb-only-in-its-engine',
      to: npm('lowdb'),
      from: '^daemon/store/lowdb/',
      comment: 'only daemon/store/lowdb/ imports lowdb; use the store port',
    }),
    onlyFrom({
      name: 'ink-only-in-tui',
      to: npm('ink|react'),
      from: '^src/tui/',
      comment: 'only src/tui draws with Ink and React',
    }),
    onlyFrom({
      name: 'mcp-sdk-only-in-mcp',
      to: npm('@modelcontextprotocol/[^/]+'),
      from: '^src/mcp/',
      comment: 'only src/mcp speaks the Model Context Protocol',
    }),
    onlyFrom({
      name: 'engine-only-behind-the-port',
      to: '^daemon/store/(engine|level|lowdb|postgres)/',
      from: '^daemon/((index|app|outside|history)\\.ts$|store/|features/backup/)|^fixtures/kit/(postgres|database-writer)\\.ts$',
      comment: 'use the store port; daemon/index.ts chooses the engine',
    }),
    {
      name: 'start-path-loads-light',
      severity: 'error',
      comment:
        'load react, ink, viem, express, ora and what makes certificates by import() where they are used: every command pays for a static import',
      from: { path: START_PATH, pathNot: TEST },
      to: {
        path: npm('react|ink|viem|express|ora|@peculiar|reflect-metadata'),
        dependencyTypesNot: ['dynamic-import', 'type-only', 'type-import'],
      },
    },
    {
      name: 'start-path-loads-no-heavy-folder',
      severity: 'error',
      comment: 'load src/tui, src/schema and daemon/index.ts by import() inside run()',
      from: { path: '^(bin/souk\\.ts$|commands/|src/(cli|lifecycle|provider)/)', pathNot: TEST },
      to: { path: '^(src/(tui|schema)/|daemon/)', dependencyTypesNot: ['dynamic-import', 'type-only', 'type-import'] },
    },
    {
      name: 'no-circular',
      severity: 'error',
      comment: 'break the cycle: move what both sides need below them',
      from: { path: OURS },
      to: { circular: true, viaOnly: { pathNot: '^fixtures/' } },
    },
    {
      name: 'no-test-in-product',
      severity: 'error',
      comment: 'product code never imports tests, fakes or the code of fixtures',
      from: { path: '^(bin/souk\\.ts$|src|daemon|commands)', pathNot: [TEST, '\\.(fake|testkit)\\.tsx?$'] },
      to: { path: ['\\.(test|fake|testkit)\\.tsx?$', '^fixtures/.*\\.tsx?$'] },
    },
    {
      name: 'no-dev-dependency-in-product',
      severity: 'error',
      comment: 'move the package to dependencies, or the code to a test',
      from: { path: '^(bin/souk\\.ts$|src|daemon|commands)', pathNot: [TEST, '\\.(fake|testkit)\\.tsx?$'] },
      to: {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['type-only', 'type-import'],
        pathNot: 'node_modules/@types/',
      },
    },
    {
      name: 'no-unresolvable',
      severity: 'error',
      comment: 'the import resolves to nothing',
      from: { path: OURS },
      to: { couldNotResolve: true },
    },
    {
      name: 'no-undeclared-package',
      severity: 'error',
      comment: 'declare the package in package.json',
      from: { path: OURS },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|coverage|fixtures/canaries)/' },
    // Type imports are architecture too.
    tsPreCompilationDeps: true,
    // Without these, packages that ship ESM only stay unresolved and the rules about them never fire.
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
      mainFields: ['module', 'main', 'types'],
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.cjs', '.json'],
    },
  },
}

/** For the test that plants a violation in each room; no setting of the tool. */
Object.defineProperty(module.exports, 'rooms', { value: [shared, front, back], enumerable: false })
