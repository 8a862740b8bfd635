import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openUser, type User } from '../fixtures/kit/user.ts'
import { entries } from './index.ts'

/* Names mean the same in every command, a slip is answered with what was meant, and nobody is shown what is not theirs. */

let user: User
let service: string
let plan: string
let me: { participant_id: string; wallet: string }

const fields = (name: string) => [`name=${name}`, 'description=x', 'price=0.50', 'fulfillment_type=human']
const create = (as: string, name: string) =>
  user.json('services', 'create', ...fields(name).flatMap((field) => ['--set', field]), '--as', as)

beforeAll(async () => {
  user = await openUser({ SOUK_NO_INPUT: '1', SOUK_TIMEOUT: '30s' })
  await user.json('up', '--port', '0', '--seed', 'house')
  await user.register('ann', '20')
  await user.register('bob', '20')
  service = (await create('ann', 'Fine prose')).id
  plan = (
    await user.json('plans', 'create', '--name', 'All of it', '--price', '1.00', '--service', service, '--as', 'ann')
  ).plan_id
  const { address: wallet } = await user.json('wallet', 'show', 'ann')
  me = { participant_id: (await user.json('participants', 'view', wallet)).id, wallet }
})
afterAll(() => user?.close())

describe('a name', () => {
  test.each(['Fine prose', 'fine_prose', 'FINE-PROSE'])(
    'of a service, typed %s, is found by whatever takes one',
    async (name) => {
      const named = async (...words: string[]) => user.json(...words, '--as', 'ann')
      expect((await named('services', 'view', name)).id).toBe(service)
      expect((await named('services', 'edit', name, '--set', 'description=y')).id).toBe(service)
      expect((await named('webhooks', 'list', name)).total).toBe(0)
      const one = await named('plans', 'create', '--name', 'Once', '--price', '1.00', '--service', name)
      expect(one.service_ids).toEqual([service])
    },
  )

  test('of a plan is found by whatever takes one', async () => {
    expect((await user.json('plans', 'view', 'all_of_it')).plan_id).toBe(plan)
    const { subscription_id: id } = await user.json(
      'plans',
      'subscribe',
      'All of it',
      '--as',
      'bob',
      '--yes',
      '--max-price',
      '2',
    )
    expect((await user.json('subs', 'view', 'all_of_it', '--as', 'bob')).subscription_id).toBe(id)
  })

  test('of a person is its wallet here, its id or its public name, in every command about people', async () => {
    for (const name of ['ann', me.participant_id, me.wallet]) {
      expect((await user.json('participants', 'view', name)).id).toBe(me.participant_id)
      expect((await user.json('trust', 'show', name)).wallet.toLowerCase()).toBe(me.wallet.toLowerCase())
      expect((await user.json('admin', 'jobs', 'list', '--participant', name)).total).toBe(0)
    }
  })

  test('of a wallet here goes before a stranger who calls itself so', async () => {
    await user.json('account', 'edit', '--name', 'ann', '--as', 'bob')
    expect((await user.json('participants', 'view', 'ann')).id).toBe(me.participant_id)
    await user.json('account', 'edit', '--name', 'bob', '--as', 'bob')
  })

  test('of a person is told with whom it is, before anything is done to them', async () => {
    const { err } = await user.souk('admin', 'participants', 'suspend', 'ann', '--reason', 'x', '--dry-run')
    expect(err).toContain(`ann is ${me.participant_id}`)
  })

  test('that two services have is refused, and names both', async () => {
    const others = [await create('bob', 'fine_prose'), await create('bob', 'Fine Prose')]
    const { code, err } = await user.souk('buy', 'Fine prose', '--quote')
    expect([code, err]).toEqual([2, expect.stringContaining('matches 2 services')])
    for (const { id, name } of others) expect(err).toContain(`${id}  ${name}  bob  $0.525`)
    // Whoever sells one means that one, where it is changed.
    expect((await user.json('services', 'edit', 'Fine prose', '--set', 'tags=[]', '--as', 'ann')).id).toBe(service)
    for (const { id } of others) await user.json('services', 'delete', id, '--as', 'bob', '--yes')
  })

  test('or slug of a listing of the house is its own for a buyer, whoever else sells under it', async () => {
    const { services } = await user.json('services', 'list', '--all')
    const house: { id: string; name: string; slug: string }[] = services.filter(({ slug }: { slug?: string }) => slug)
    const [other] = house.filter(({ name, slug }) => name.toLowerCase().replaceAll(' ', '_') !== slug)
    if (other === undefined) throw new Error('no listing of the house has a slug of other words')
    expect((await user.json('services', 'view', other.slug)).id).toBe(other.id)
    const mine = await create('bob', 'QR code')
    const qr = house.find(({ slug }) => slug === 'qr_code')?.id
    for (const as of ['ann', 'bob']) {
      const bought = await user.json('buy', 'qr_code', '-i', 'data=hello', '--quote', '--as', as)
      expect(bought.service_id).toBe(qr)
    }
    expect((await user.json('services', 'view', 'QR code', '--as', 'bob')).id).toBe(mine.id)
    await user.json('services', 'delete', mine.id, '--as', 'bob', '--yes')
  })
})

describe('a slip', () => {
  const wrong = (id: string) => id.slice(0, -1) + (id.endsWith('0') ? '1' : '0')

  test('in an id is answered with the one that was meant', async () => {
    const { job_id: job } = await user.json('buy', service, '--as', 'bob', '--yes')
    const { thread_id: thread } = await user.json('services', 'inquire', service, '-m', 'hello', '--as', 'bob')
    const slips: readonly (readonly [string, readonly string[]])[] = [
      [service, ['services', 'view']],
      [job, ['jobs', 'view']],
      [thread, ['threads', 'view']],
      [plan, ['plans', 'view']],
      [job, ['admin', 'jobs', 'bundle']],
    ]
    for (const [id, words] of slips) {
      const { code, err } = await user.souk(...words, wrong(id), '--as', 'bob')
      expect([words, code, err]).toEqual([words, 3, expect.stringContaining(`did you mean ${id}?`)])
    }
  })

  test.each([
    ['qr_cod', ['services', 'view'], 'qr_code'],
    ['all_of_itt', ['plans', 'view'], 'all_of_it'],
    ['auto-refnd', ['crons', 'pause'], 'auto-refund'],
    ['auto-refnd', ['crons', 'run'], 'auto-refund'],
    ['an', ['participants', 'view'], 'ann'],
    ['job.disputd', ['trigger'], 'job.disputed'],
  ])('in the name %s is answered with the one that was meant', async (word, words, meant) => {
    const { code, err } = await user.souk(...words, word)
    expect(code).not.toBe(0)
    expect(err).toContain(`did you mean ${meant}?`)
  })

  test.each([
    ['jobs list -r locl', 'local', 'souk remote list'],
    ['wallet show anm', 'ann', 'souk wallet list'],
  ])('in souk %s is answered with the one that was meant, and where all of them are', async (line, meant, list) => {
    const { code, err } = await user.souk(...line.split(' '))
    expect([code, err]).toEqual([3, expect.stringContaining(`(did you mean ${meant}?)`)])
    expect(err).toContain(`→ ${list}`)
  })

  test('changes nothing, and never means another by itself', async () => {
    const { code } = await user.souk('services', 'delete', 'fine_pros', '--as', 'ann', '--yes')
    expect(code).toBe(3)
    expect((await user.json('services', 'view', service)).status).toBe('active')
  })
})

describe('completion', () => {
  const offered = async (...words: string[]): Promise<string[]> => {
    const { code, out, err } = await user.souk('__complete', '--', ...words)
    expect([code, err]).toEqual([0, ''])
    return out.split('\n').flatMap((line) => line.split('\t')[0] || [])
  }

  test('offers the ids and names that the one who acts may see', async () => {
    const { job_id: job } = await user.json('buy', service, '--as', 'bob', '--yes')
    const { thread_id: thread } = await user.json('services', 'inquire', service, '-m', 'hello', '--as', 'bob')
    expect(await offered('jobs', 'view', '--as', 'bob', 'job_')).toContain(job)
    expect(await offered('threads', 'view', '--as', 'bob', 'thr_')).toContain(thread)
    expect(await offered('admin', 'jobs', 'resolve', 'job_')).toContain(job)
    expect(await offered('buy', 'fine')).toEqual(['fine_prose'])
    expect(await offered('buy', 'qr_code', '-i', 'format=')).toEqual(['format=png', 'format=svg'])
    expect(await offered('crons', 'run', 'auto')).toEqual(['auto-refund'])
    expect(await offered('plans', 'create', '--service', 'svc_')).toContain(service)
  })

  test('shows nobody what belongs to others', async () => {
    const { job_id: job } = await user.json('buy', service, '--as', 'bob', '--yes')
    await user.json('wallet', 'new', 'eve')
    expect(await offered('jobs', 'view', '--as', 'eve', 'job_')).toEqual([])
    const { url } = await user.json('status')
    // By its address alone nobody has the admin key.
    expect(await offered('admin', 'jobs', 'resolve', '--base-url', url, 'job_')).toEqual([])
    expect(await offered('admin', 'participants', 'suspend', '--base-url', url, 'p_')).toEqual([])
    expect(await offered('admin', 'jobs', 'resolve', 'job_')).toContain(job)
  })

  test('says nothing where nobody answers', async () => {
    const { code, out, err } = await user.souk(
      '__complete',
      '--',
      'services',
      'view',
      '--base-url',
      'http://127.0.0.1:9',
      'svc_',
    )
    expect([code, out, err]).toEqual([0, '', ''])
    expect(await offered('services', 'view', '-r', 'nowhere', 'svc_')).toEqual([])
  })

  test('offers no word that acts on a terminal', async () => {
    const schema = { type: 'object', properties: { 'a\u001b[2Jb': {}, 'c\nd': {}, plain: {} } }
    writeFileSync(
      join(user.home, 'odd.json'),
      JSON.stringify({ ...Object.fromEntries(fields('Odd').map((field) => field.split('='))), input_schema: schema }),
    )
    const { id } = await user.json('services', 'create', '--file', join(user.home, 'odd.json'), '--as', 'ann')
    expect(await offered('buy', id, '-i', '')).toEqual(['plain='])
  })
})

test('every word that names something has its kind, or means something else on purpose', async () => {
  const { kindOfArgument } = await import('../src/cli/naming/kinds.ts')
  const loaded = await Promise.all(entries.map(({ load }) => load()))
  const words = new Set(loaded.flatMap(({ command }) => Object.keys(command.args.shape)))
  // Files, amounts, times, keys of settings, words to search for: nothing that the instance has a list of.
  const others = [
    'agent',
    'amount',
    'attempt',
    'bid',
    'direction',
    'duration',
    'event',
    'file',
    'files',
    'id',
    'key',
    'kind',
    'link',
    'name',
    'off',
    'outcome',
    'path',
    'receipt',
    'root',
    'screen',
    'shell',
    'slug',
    'state',
    'target',
    'text',
    'tier',
    'time',
    'url',
    'value',
    'what',
    'who',
    // `files`, or an address of a database.
    'to',
    'words',
  ]
  expect([...words].filter((word) => kindOfArgument(word) === undefined && !others.includes(word))).toEqual([])
})
