import { hash } from 'node:crypto'
import { z } from 'zod'
import { AppError } from '../../../../src/core/error.ts'
import type { Json } from '../../../../src/core/json.ts'
import { screens } from '../../../ports/browser/browser.ts'
import type { BrowserPage, Clip } from '../../../ports/browser/page.ts'
import { checkAddress } from '../docs/pages.ts'
import { BUSY_INSTANT_MS, defineService, MAX_DELIVERABLE_BYTES, textOf } from '../service/service.ts'
import { engineOf, onPage } from './opened.ts'

const PNG_WIDTH_AT = 16
const PNG_HEIGHT_AT = 20
const MARKER = 0xff
const FIRST_SEGMENT_AT = 2
const FRAME_HEIGHT_AT = 5
const FRAME_WIDTH_AT = 7
/** Markers that start a JPEG frame: baseline, extended or progressive. */
const frames: ReadonlySet<number> = new Set([0xc0, 0xc1, 0xc2])
/** Largest height in pixels; the rest of the page is cut off. */
const MAX_HEIGHT = 10_000
/** Bytes of a deliverable reserved for the fields besides the file. */
const ROOM_BYTES = 64 * 1024
const BASE64_OF_BYTES = 4 / 3
/** Largest file that fits into a deliverable. */
export const MAX_FILE_BYTES = Math.floor((MAX_DELIVERABLE_BYTES - ROOM_BYTES) / BASE64_OF_BYTES)

const HEIGHT = 'Math.ceil(Math.max(document.documentElement.scrollHeight, document.body?.scrollHeight ?? 0))'

export const pageScreenshot = defineService({
  slug: 'page_screenshot',
  needs: ['browser'],
  timeoutMs: BUSY_INSTANT_MS,
  check: checkAddress('url'),
  read: (input, ctx) =>
    onPage(ctx, { input, field: 'url', screen: screenOf(textOf(input, 'device')) }, async (page, loaded) => {
      const format = formatOf(textOf(input, 'format'))
      const screen = screens[screenOf(textOf(input, 'device'))]
      const whole = input['full_page'] === true ? await page.evaluate(HEIGHT, z.number().int().min(0)) : screen.height
      const height = Math.min(MAX_HEIGHT, Math.max(screen.height, whole))
      const shot = await shoot(page, { format, width: screen.width, height, sharpness: screen.deviceScaleFactor })
      return {
        loaded,
        bytes: shot.bytes,
        truncated: shot.height < whole,
        blocked: page.blocked(),
        at: ctx.now(),
        engine: engineOf(ctx),
      }
    }),
  make(input, { loaded, bytes, truncated, blocked, at, engine }): Json {
    const picture = Buffer.from(bytes)
    const device = screenOf(textOf(input, 'device'))
    const format = formatOf(textOf(input, 'format'))
    const { width, height } = pictureSize(picture)
    return {
      url: textOf(input, 'url').trim(),
      final_url: loaded.final_url,
      status: loaded.status,
      device,
      format,
      full_page: input['full_page'] === true,
      content_type: `image/${format}`,
      width,
      height,
      device_scale: width / screens[device].width,
      truncated,
      timed_out: loaded.timed_out,
      blocked_requests: blocked,
      bytes: picture.length,
      sha256: hash('sha256', picture),
      image_base64: picture.toString('base64'),
      taken_at: new Date(at).toISOString(),
      engine: { ...engine },
    }
  },
})

function screenOf(device: string): keyof typeof screens {
  return device === 'mobile' ? 'mobile' : 'desktop'
}

function formatOf(format: string): 'png' | 'jpeg' {
  return format === 'jpeg' ? 'jpeg' : 'png'
}

type Shot = {
  readonly format: 'png' | 'jpeg'
  readonly width: number
  readonly height: number
  /** Device pixels per CSS pixel. */
  readonly sharpness: number
}

/** Retakes a screenshot that is too large: with less sharpness, then also with half the height. */
async function shoot(
  page: BrowserPage,
  { format, width, height, sharpness }: Shot,
): Promise<{ bytes: Buffer; height: number }> {
  const sharp: Clip = { width, height, scale: 1 }
  const plain = { ...sharp, scale: 1 / sharpness }
  const half = { ...plain, height: Math.ceil(height / 2) }
  for (const clip of sharpness === 1 ? [sharp, half] : [sharp, plain, half]) {
    const bytes = await page.picture({ format, clip })
    if (bytes.length <= MAX_FILE_BYTES) return { bytes, height: clip.height }
  }
  const way = format === 'png' ? 'choose jpeg' : 'capture one viewport instead of the full page'
  throw new AppError('provider_failed', `The screenshot is larger than ${MAX_FILE_BYTES} bytes: ${way}.`)
}

function pictureSize(picture: Buffer): { width: number; height: number } {
  if (picture[0] !== MARKER) {
    return { width: picture.readUInt32BE(PNG_WIDTH_AT), height: picture.readUInt32BE(PNG_HEIGHT_AT) }
  }
  let at = FIRST_SEGMENT_AT
  while (!frames.has(picture[at + 1] ?? 0)) {
    if (picture[at] !== MARKER) throw new Error('the JPEG has no frame header')
    at += 2 + picture.readUInt16BE(at + 2)
  }
  return { width: picture.readUInt16BE(at + FRAME_WIDTH_AT), height: picture.readUInt16BE(at + FRAME_HEIGHT_AT) }
}
