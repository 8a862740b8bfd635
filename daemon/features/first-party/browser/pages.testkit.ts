import { afterAll, beforeEach } from 'vitest'
import { openBrowsers } from '../../../ports/browser/browser.ts'
import { openSite } from '../../../ports/web/site.testkit.ts'
import { delivered } from '../delivers.testkit.ts'
import type { FirstPartyService, JsonInput } from '../service/service.ts'

const AT = Date.parse('2026-06-01T12:00:00Z')

/** A site and a browser for the tests of one file; pages are forgotten before each, both are closed after all. */
export async function openBrowserTest() {
  const site = await openSite()
  const engine = openBrowsers({ web: site.web() })
  await engine.probe?.()
  beforeEach(() => site.clear())
  afterAll(async () => {
    await engine.close?.()
    await site.close()
  })
  const run = (service: FirstPartyService, input: JsonInput) =>
    delivered({ service, input, means: { web: site.web(), now: () => AT, engines: { browser: engine.port } } })
  return { site, engine, run }
}

export const cleanPage = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Ducks on ponds</title></head>
<body style="background:#fff;color:#111"><header><a href="/home" style="padding:20px;display:inline-block">Home of the ducks</a></header><main><h1>Ducks</h1><p>They swim.</p><h2>Ponds</h2>
<img src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=" alt="A duck" width="10" height="10">
<form><label>Name <input name="n" style="height:40px"></label><button style="padding:20px">Send</button></form></main></body></html>`

/** Faults, each with the rule that names it; the frame and the head have their own. */
export const faults = [
  ['image-alt', '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=">'],
  ['label', '<input name="unnamed">'],
  ['button-name', '<button></button>'],
  ['link-name', '<a href="/x"></a>'],
  ['color-contrast', '<p style="color:#aaa;background:#fff">Pale text</p>'],
  ['select-name', '<select><option>a</option></select>'],
  ['input-image-alt', '<input type="image" src="x.png">'],
  ['aria-roles', '<div role="nothing">x</div>'],
  ['aria-valid-attr', '<div aria-nothing="x">x</div>'],
  ['aria-required-attr', '<div role="checkbox" tabindex="0">x</div>'],
  ['list', '<ul><p>x</p></ul>'],
  ['listitem', '<div><li>x</li></div>'],
  ['heading-order', '<h1>One</h1><h4>Four</h4>'],
  ['tabindex', '<a href="/y" tabindex="5">five</a>'],
  ['frame-title', '<iframe srcdoc="<p>x"></iframe>'],
  [
    'target-size',
    '<button style="width:8px;height:8px;padding:0;border:0">a</button><button style="width:8px;height:8px;padding:0;border:0">b</button>',
  ],
  ['html-has-lang', ''],
  ['document-title', ''],
  ['meta-viewport', ''],
  ['landmark-one-main', ''],
] as const
export const faultyPage = `<!doctype html><html><head><meta name="viewport" content="width=device-width, maximum-scale=1, user-scalable=no"></head><body>${faults.map(([, markup]) => markup).join('')}</body></html>`
