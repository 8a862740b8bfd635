import { PNG } from 'pngjs'
import { describe, expect, it } from 'vitest'
import { drawnPicture } from './picture.ts'

const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(6_000, 0x1b)])
const jpeg = Buffer.concat([Buffer.from('\xff\xd8\xff\xe0', 'latin1'), Buffer.alloc(50, 7)])

describe('a picture in a terminal', () => {
  it('is drawn by kitty in pieces that together are the picture', async () => {
    const drawn = (await drawnPicture({ TERM: 'xterm-kitty' }, png, 80)) ?? ''
    const pieces = drawn.split('\x1b\\').filter(Boolean)
    expect(pieces[0]).toContain('\x1b_Gf=100,a=T,m=1;')
    expect(pieces.at(-1)).toContain('\x1b_Gm=0;')
    expect(Buffer.from(pieces.map((piece) => piece.replace(/^.*;/, '')).join(''), 'base64')).toEqual(png)
  })

  it('is drawn by iTerm2, also a photograph', async () => {
    for (const picture of [png, jpeg]) {
      const drawn = (await drawnPicture({ TERM_PROGRAM: 'iTerm.app' }, picture, 80)) ?? ''
      const bytes = picture.toString('base64')
      expect(drawn).toBe(`\x1b]1337;File=inline=1;size=${picture.length}:${bytes}\x07`)
    }
  })

  it.each<[string, Record<string, string>]>([
    ['foot', { TERM: 'foot-extra' }],
    ['mlterm', { TERM: 'mlterm' }],
    ['one that was told', { TERM: 'xterm', SOUK_PICTURES: 'sixel' }],
  ])('is drawn as sixels by %s', async (_, env) => {
    const one = PNG.sync.write(new PNG({ width: 12, height: 6 }))
    expect((await drawnPicture(env, one, 80))?.startsWith('\x1bPq"1;1;12;6#')).toBe(true)
  })

  it.each<[string, Record<string, string>, Uint8Array]>([
    ['where nobody wants it', { TERM: 'xterm-kitty', SOUK_PICTURES: 'none' }, png],
    ['a photograph for sixels', { TERM: 'foot' }, jpeg],
    ['another terminal', { TERM: 'xterm-256color' }, png],
    ['a multiplexer', { TERM: 'xterm-kitty', TMUX: '/tmp/tmux' }, png],
    ['what is no picture', { TERM: 'xterm-kitty' }, Buffer.from('\x1b]0;title\x07')],
    ['a photograph for kitty', { TERM: 'xterm-kitty' }, jpeg],
    ['a picture too large', { TERM: 'xterm-kitty' }, Buffer.concat([png, Buffer.alloc(5_000_000)])],
  ])('is not drawn: %s', async (_, env, data) => expect(await drawnPicture(env, data, 80)).toBeUndefined())
})
