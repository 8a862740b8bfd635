// The import law. One row a folder: what it may reach among our own files; everything else of ours is forbidden.
// A folder may always import itself; tests may import anything.
const TEST = '\\.test\\.tsx?$'
const OURS = '^(bin|src|daemon|commands|fixtures)/'

const core = '^src/core/'
const model = '^src/model/'
const api = '^src/api/'
const client = '^src/client/'
const cli = '^src/cli/'
const rules = '^daemon/rules/'
const store = '^daemon/store/'
const storePort = '^daemon/store/port\\.ts$'
const storeErrors = '^daemon/store/errors\\.ts$'
const ports = '^daemon/ports/'
const webhooks = '^daemon/webhooks/'
const jobs = '^daemon/jobs/'
const postings = '^daemon/postings/'
const subscriptions = '^daemon/subscriptions/'
const reputation = '^daemon/reputation/'
const verification = '^daemon/verification/'
const routes = '^daemon/routes/'
// Types shared by the gates, handlers and crons live directly in daemon/; the files that compose them do not count.
const daemonShared = '^daemon/(?!(index|server|pipeline)\\.ts$)[^/]+\\.ts$'

const layers = [
  { name: 'core', from: core, may: [] },
  { name: 'model', from: model, may: [core] },
  { name: 'api', from: api, may: [core, model] },
  { name: 'client', from: client, may: [core, model, api] },
  { name: 'cli', from: cli, may: [core, model, api, client] },
  { name: 'tui', from: '^src/tui/', may: [core, model, api, client] },
  { name: 'rules', from: rules, may: [core, model] },
  { name: 'store', from: store, may: [core, model] },
  { name: 'ports', from: ports, may: [core, storePort] },
  { name: 'services', from: '^daemon/services/', may: [core, ports] },
  { name: 'threads', from: '^daemon/threads/', may: [core, model, rules, ports, '^daemon/services/'] },
  { name: 'gates', from: '^daemon/gates/', may: [core, model, api, rules, store, ports, daemonShared] },
  { name: 'webhooks', from: webhooks, may: [core, model, store, ports, '^daemon/edge/json\\.ts$', daemonShared] },
  {
    name: 'jobs',
    from: jobs,
    may: [core, model, api, rules, store, '^daemon/edge/json\\.ts$', webhooks, postings, daemonShared],
  },
  { name: 'postings', from: postings, may: [core, model, api, rules, store, webhooks, jobs, daemonShared] },
  { name: 'subscriptions', from: subscriptions, may: [core, model, rules, store, webhooks, daemonShared] },
  { name: 'verification', from: verification, may: [core, model, api, rules, store, ports, daemonShared] },
  {
    name: 'routes',
    from: routes,
    may: [core, model, api, rules, store, ports, webhooks, jobs, postings, subscriptions, verification, daemonShared],
  },
  { name: 'reputation', from: reputation, may: [core, model, rules, store, ports, daemonShared] },
  { name: 'edge', from: '^daemon/edge/', may: [core, api, storePort, storeErrors, daemonShared] },
  {
    name: 'crons',
    from: '^daemon/crons/',
    may: [
      core,
      model,
      rules,
      store,
      ports,
      webhooks,
      jobs,
      postings,
      subscriptions,
      verification,
      reputation,
      daemonShared,
    ],
  },
  { name: 'entry', from: '^bin/souk\\.ts$', may: [core, cli, '^commands/'] },
]

const why = {
  core: 'values import nothing of ours',
  model: 'entity schemas stand on src/core',
  api: 'the contract stands on src/core and src/model',
  client: 'the client knows the contract, never the daemon',
  cli: 'the command line reaches the daemon through src/client',
  tui: 'the cockpit has no private API: use src/client',
  rules: 'rules are pure: pass values in, from src/core and src/model',
  store: 'the store knows schemas, not rules or ports',
  ports: 'a port stands on src/core (and the type in daemon/store/port.ts)',
  services: 'a first-party service stands on ports and src/core',
  gates: 'gates use rules, store, ports and the contract',
  webhooks: 'deliveries use store and ports; what they tell is made by handlers and crons',
  jobs: 'what happens to a job is said once, for handlers, crons and deliveries',
  postings: 'what happens to a request is said once, for handlers, crons, deliveries and the jobs that come of it',
  subscriptions: 'what happens to a subscription is said once, for handlers and crons',
  verification: 'what happens to an attempt is said once, for handlers, the vendor and crons',
  reputation: 'jobs are counted from what is stored, and published through ports',
  routes: 'handlers use rules, store, ports and the contract',
  edge: 'the HTTP edge knows the contract and the exchange, nothing of the market',
  crons: 'crons use rules, store and ports',
  entry: 'bin/souk.ts only starts commands',
}

const layerRules = layers.map(({ name, from, may }) => ({
  name: `layer-${name}`,
  severity: 'error',
  comment: why[name],
  from: { path: from, pathNot: TEST },
  to: { path: OURS, pathNot: [from, ...may] },
}))

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
const START_PATH = '^(bin/souk\\.ts$|commands/|src/(core|model|api|client|cli)/)'

module.exports = {
  forbidden: [
    ...layerRules,
    {
      name: 'commands-reach',
      severity: 'error',
      comment: 'a command uses src/cli and src/client; only commands/daemon/* may import daemon/index.ts',
      from: { path: '^commands/', pathNot: ['^commands/daemon/', TEST] },
      to: { path: '^(daemon|bin|fixtures)/' },
    },
    {
      name: 'daemon-commands-reach',
      severity: 'error',
      comment: 'the daemon has one door: daemon/index.ts',
      from: { path: '^commands/daemon/', pathNot: TEST },
      to: { path: '^(daemon|bin|fixtures)/', pathNot: '^daemon/index\\.ts$' },
    },
    {
      name: 'daemon-reaches-no-front',
      severity: 'error',
      comment: 'the daemon never imports commands, the cockpit, the command line or the client',
      from: { path: '^daemon/', pathNot: TEST },
      to: { path: '^(bin/|commands/|src/(cli|client|tui)/)' },
    },
    {
      name: 'routes-import-no-routes',
      severity: 'error',
      comment: 'what two handlers share is a rule, a store query or a port',
      from: { path: routes, pathNot: ['^daemon/routes/index\\.ts$', TEST] },
      to: { path: routes },
    },
    {
      name: 'rules-do-no-io',
      severity: 'error',
      comment: 'rules are pure: no network or storage packages',
      from: { path: rules, pathNot: TEST },
      to: { path: npm('express|lowdb|viem|undici|pino|busboy') },
    },
    {
      name: 'rules-use-no-node',
      severity: 'error',
      comment: 'rules are pure: pass the value in instead of importing a Node module; a digest is pure too',
      from: { path: rules, pathNot: TEST },
      to: { dependencyTypes: ['core'], pathNot: '^crypto$' },
    },
    onlyFrom({
      name: 'express-only-in-server',
      to: npm('express'),
      from: '^daemon/server\\.ts$',
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
      to: npm('ink|@inkjs/ui|react'),
      from: '^src/tui/',
      comment: 'only src/tui draws with Ink and React',
    }),
    onlyFrom({
      name: 'engine-only-behind-the-port',
      to: '^daemon/store/(engine|lowdb|postgres)/',
      from: '^daemon/([^/]+\\.ts$|store/)',
      comment: 'use the store port; daemon/index.ts chooses the engine',
    }),
    {
      name: 'start-path-loads-light',
      severity: 'error',
      comment:
        'load react, ink, viem, express and ora by import() where they are used: every command pays for a static import',
      from: { path: START_PATH, pathNot: TEST },
      to: {
        path: npm('react|ink|@inkjs/ui|viem|express|ora'),
        dependencyTypesNot: ['dynamic-import', 'type-only', 'type-import'],
      },
    },
    {
      name: 'start-path-loads-no-heavy-folder',
      severity: 'error',
      comment: 'load src/tui and daemon/index.ts by import() inside run()',
      from: { path: '^(bin/souk\\.ts$|commands/)', pathNot: TEST },
      to: { path: '^(src/tui/|daemon/)', dependencyTypesNot: ['dynamic-import', 'type-only', 'type-import'] },
    },
    {
      name: 'no-circular',
      severity: 'error',
      comment: 'break the cycle: move what both sides need below them',
      from: { path: OURS },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only', 'type-import'] } },
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
    tsConfig: { fileName: 'tsconfig.json' },
    // Without these, packages that ship ESM only stay unresolved and the rules about them never fire.
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
      mainFields: ['module', 'main', 'types'],
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.cjs', '.json'],
    },
  },
}
