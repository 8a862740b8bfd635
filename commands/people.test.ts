import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openUserAtMarket, type User } from '../fixtures/kit/user.ts'
import { placesOf } from '../src/client/settings.ts'
import { keepWallet } from '../src/market/seed.ts'

// @slow a real daemon

/* Several people on one machine, and their keys. */

let user: User
beforeAll(async () => {
  user = await openUserAtMarket()
  await user.register('ann', '20.00')
})
afterAll(() => user.close())

const names = async () => (await user.json('wallet', 'list')).wallets.map(({ name }: { name: string }) => name)

describe('souk as', () => {
  test('makes nobody where nobody can be asked, and names the line that does', async () => {
    const { code, out, err } = await user.souk('as', 'bob', 'balance', 'show')
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain('→ souk --as bob balance show --yes')
    expect((await user.souk('balance', 'show', '--as', 'ana')).err).toContain('did you mean ann?')
    expect(await names()).toEqual(['ann'])
  })

  test('makes somebody with test money and an account, who then acts', async () => {
    const made = await user.souk('as', 'bob', 'account', 'show', '--yes', '--json')
    expect([made.code, JSON.parse(made.out).name]).toEqual([0, 'bob'])
    expect(made.err).toMatch(/created wallet bob.*received \$10\.00.*registered as bob \(p_/s)
    const bought = await user.souk('as', 'bob', 'buy', 'qr_code', '-i', 'data=x', '--json')
    expect([bought.code, JSON.parse(bought.out).status]).toEqual([0, 'completed'])
    expect(await user.json('as', 'bob')).toMatchObject({ name: 'bob', registered: true })
    // The one who was active stays that.
    expect((await user.json('wallet', 'show')).name).toBe('ann')
  })

  test('above the limit says only what is so, and the first suggestion works as typed', async () => {
    const line = ['services', 'create', '--set', 'name=Palette', '--set', 'description=x', '--set', 'price=1.20']
    const { id } = await user.json(...line, '--set', 'fulfillment_type=human', '--as', 'ann')
    const refused = await user.souk('buy', id, '--as', 'nell', '--yes')
    expect([refused.code, refused.err]).toEqual([5, expect.stringContaining('This costs $1.26, and')])
    expect(refused.err).not.toMatch(/it is paid|idempotency/)
    const [first = ''] = /(?<=→ souk ).*?(?= {2}|\n)/.exec(refused.err) ?? []
    const bought = await user.souk(...first.trim().split(' '))
    expect([bought.code, bought.out]).toEqual([0, expect.stringMatching(/paid \$1\.26 .*dispatched/s)])
    // In a pipe, too.
    expect(bought.err).toMatch(/next: souk jobs watch job_\w+ .*souk jobs view job_/)
  })

  test('alone says who acts, and takes global options before it', async () => {
    expect(await user.json('as')).toMatchObject({ name: 'ann', registered: true })
    const before = await user.souk('--json', '--timeout', '30s', 'as', 'bob', 'account', 'show')
    expect([before.code, JSON.parse(before.out).name]).toEqual([0, 'bob'])
    expect(JSON.parse((await user.souk('--json', 'as', 'bob', '--timeout', '30s')).out).name).toBe('bob')
  })

  test('says who is meant where one of the demo has the same name', async () => {
    const places = placesOf({ HOME: user.home })
    await user.json('wallet', 'new', 'acme')
    await keepWallet(places, 'acme', new Date().toISOString())
    expect(await names()).toContain('demo-acme')
    const own = await user.souk('services', 'list', '--as', 'acme')
    expect(own.err).toMatch(/--as acme is your own wallet 0x.*the acme of the demo is --as demo-acme/)
    expect((await user.souk('services', 'list', '--as', 'ann')).err).toBe('')
  })

  test('holds back what it would make', async () => {
    const { code, out } = await user.souk('balance', 'show', '--as', 'cleo', '--dry-run')
    expect([code, out]).toEqual([0, expect.stringContaining('would create wallet cleo')])
    expect(await names()).not.toContain('cleo')
  })
})

describe('souk wallet export', () => {
  test('writes a key for its owner only, that makes the same wallet again', async () => {
    const file = join(user.home, 'ann.key')
    expect((await user.souk('wallet', 'export', file, 'ann')).code).toBe(2)
    const { address } = await user.json('wallet', 'export', file, 'ann', '--yes')
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600')
    await user.json('wallet', 'import', 'copy', '--key-file', file)
    expect((await user.json('wallet', 'show', 'copy')).address).toBe(address)
    const { out } = await user.souk('wallet', 'export', join(user.home, 'other.key'), 'ann', '--yes')
    expect(out).not.toContain(readFileSync(file, 'utf8').trim())
    writeFileSync(join(user.home, 'there'), 'mine')
    expect((await user.souk('wallet', 'export', join(user.home, 'there'), 'ann', '--yes')).code).toBe(6)
  })

  test('goes into a pipe only when told twice, and never onto a terminal', async () => {
    const unasked = await user.souk('wallet', 'export', '-', 'ann')
    expect([unasked.code, unasked.out]).toEqual([2, ''])
    const terminal = await user.soukWith({ columns: 80 }, 'wallet', 'export', '-', 'ann', '--yes')
    expect([terminal.code, terminal.out]).toEqual([2, ''])
    expect((await user.souk('wallet', 'export', '-', 'ann', '--yes')).out).toMatch(/^0x[0-9a-f]{64}\n$/)
  })
})

const hasAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0

describe('souk up --systemd', () => {
  test('prints a unit that runs this instance, and starts nothing', async () => {
    const { unit, name } = await user.json('up', '--systemd', '--port', '0', '--instance', 'unit')
    expect(name).toBe('souk-unit.service')
    expect(unit).toMatch(/\nExecStart=\/\S+ .* up --foreground .*--port=0.* --instance=unit /)
    expect((await user.json('status', '--instance', 'unit')).state).not.toBe('running')
    const { out } = await user.souk('up', '--systemd', '--port', '0', '--instance', 'unit')
    expect(out).toBe(unit)
  })

  test.skipIf(!hasAnalyze)('is what systemd takes for a unit', async () => {
    const { unit, name } = await user.json('up', '--systemd', '--instance', 'unit')
    const file = join(user.home, name)
    writeFileSync(file, unit)
    execFileSync('systemd-analyze', ['verify', '--user', file], {
      env: { PATH: process.env.PATH, HOME: user.home, XDG_RUNTIME_DIR: user.home },
    })
  })
})
