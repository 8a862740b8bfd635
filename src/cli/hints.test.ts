import { expect, test } from 'vitest'
import { hintOf, programOf, suggestedBy } from './hints.ts'

/* What is suggested means the same as what was typed: same program, same place, same person. */

const typed = (line: string, env: Record<string, string> = {}, program = 'souk') => ({
  argv: line.split(' '),
  env,
  program,
})

test.each([
  ['buy x --as ann', 'souk jobs view job_1', 'souk jobs view job_1 --as ann'],
  ['buy x --as=ann -r shop', 'souk jobs view job_1', 'souk jobs view job_1 --remote shop --as ann'],
  ['buy x -rshop', 'souk jobs view job_1', 'souk jobs view job_1 --remote shop'],
  ['jobs view x --as ann', 'souk why job_1', 'souk why job_1 --as ann'],
  ['buy x --remote shop', 'souk up', 'souk up'],
  ['status --instance two', 'souk up', 'souk up --instance two'],
  ['status --instance two', 'souk logs --tail 5', 'souk logs --tail 5 --instance two'],
  ['admin holds -r shop --as ann', 'souk admin payouts', 'souk admin payouts --remote shop'],
  ['wallet fund -r shop', 'souk status -r other', 'souk status -r other'],
  ['wallet new bob --as ann', 'souk wallet fund bob', 'souk wallet fund bob'],
  ['buy x --base-url http://h:1', 'souk services list', 'souk services list --base-url http://h:1'],
  ['buy x --as ann', 'souk buy --help', 'souk buy --help'],
  ['buy x --as ann', 'souk help payments', 'souk help payments'],
  ['buy x -- --as ann', 'souk jobs view job_1', 'souk jobs view job_1'],
  ['buy x --config /tmp/c', 'souk wallet list', 'souk wallet list --config /tmp/c'],
  ['buy x --quote -i a=b', '… without --quote', 'souk buy x -i a=b'],
  ['buy x', '… --max-price 2.00', 'souk buy x --max-price 2.00'],
  ['buy x --max-price 0.001', '… --max-price 2.00', 'souk buy x --max-price 2.00'],
  ['buy x --max-price=0.001 -i a=b', '… --max-price 2.00', 'souk buy x -i a=b --max-price 2.00'],
  ['--max-price 0.001 buy x --pay none', '… --max-price 2.00', 'souk buy x --pay none --max-price 2.00'],
  ['reset -y', '… --yes', 'souk reset --yes'],
  ['buy x -i a=b', '… -i c=VALUE', 'souk buy x -i a=b -i c=VALUE'],
  ['provide x -- node work.js', '… --yes', 'souk provide x --yes -- node work.js'],
  ['buy x --as ann', 'chmod -R go= /x', 'chmod -R go= /x'],
])('after souk %s, %s is told as %s', (line, hint, told) => {
  expect(hintOf(typed(line), hint)).toBe(told)
})

test('words that a shell would split or read are quoted', () => {
  const line = { argv: ['buy', 'x', '-i', "text=it's; rm -rf ~"], env: {}, program: 'souk' }
  expect(hintOf(line, '… --yes')).toBe(`souk buy x -i 'text=it'\\''s; rm -rf ~' --yes`)
  expect(hintOf({ argv: ['x', '--as', 'a b'], env: {}, program: 'souk' }, 'souk account show')).toBe(
    "souk account show --as 'a b'",
  )
})

test('what an instance suggests is offered only where it can do nothing else than it says', () => {
  const io = { hint: (command: string) => hintOf({ argv: [], env: {}, program: 'souk' }, command) }
  const good = 'souk admin jobs resolve job_1 --outcome refund --reason "..."'
  expect(suggestedBy(io, good)).toContain(`→ ${good}`)
  for (const bad of [
    'souk up; rm -rf ~',
    'souk up $(id)',
    'curl x | sh',
    'souk why `id`',
    'souk why a\nrm',
    'souk a "$(id)"',
  ]) {
    expect(suggestedBy(io, bad)).not.toContain('→')
  }
})

test('what the environment says is said again, as another shell may not have it', () => {
  expect(hintOf(typed('buy x', { SOUK_REMOTE: 'shop' }), 'souk jobs list')).toBe('souk jobs list --remote shop')
  expect(hintOf(typed('buy x --as ann', { SOUK_AS: 'bob' }), 'souk jobs list')).toBe('souk jobs list --as ann')
})

test.each([
  [
    'npm start',
    { env: { npm_lifecycle_event: 'start', npm_package_json: '/w/package.json' }, file: '/w/dist/souk.js' },
    'bin/souk',
  ],
  [
    'a script of another package',
    {
      env: { npm_lifecycle_event: 'dev', npm_command: 'exec', npm_package_json: '/app/package.json', PATH: '/usr/bin' },
      file: '/usr/bin/souk',
    },
    'souk',
  ],
  ['npx', { env: { npm_command: 'exec' }, file: '/w/node_modules/.bin/souk' }, 'npx souk'],
  ['the path', { env: { PATH: '/bin:/usr/local/bin' }, file: '/usr/local/bin/souk' }, 'souk'],
  ['a link elsewhere', { env: { PATH: '/bin' }, file: '/opt/souk' }, '/opt/souk'],
  ['the file of a checkout', { env: {}, file: 'bin/souk' }, 'bin/souk'],
  ['a script', { env: {}, file: '/w/dist/souk.js' }, 'node dist/souk.js'],
  ['a packed program beside', { env: {}, file: './souk', isPacked: true }, './souk'],
  ['a packed program on the path', { env: {}, file: 'souk', isPacked: true }, 'souk'],
])('started by %s', (_how, started, program) => {
  expect(programOf({ isPacked: false, folder: '/w', ...started })).toBe(program)
  expect(hintOf({ argv: [], env: {}, program }, 'souk up')).toBe(`${program} up`)
})
