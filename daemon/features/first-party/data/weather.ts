import { z } from 'zod'
import { AppError } from '../../../../src/core/error.ts'
import type { Json } from '../../../../src/core/json.ts'
import { compact, ownOf } from '../../../../src/core/record.ts'
import { SECOND_MS } from '../../../../src/core/time.ts'
import { defineService, type JsonInput, type ServiceCtx, textOf, wrongField } from '../service/service.ts'
import { fromUpstream } from '../service/upstream.ts'

const KEEP_MS = 10 * 60_000
const KEEP_PLACE_MS = 24 * 60 * 60_000
const DAYS = 7
const MAX_LAT = 90
const MAX_LON = 180

const Place = z.object({
  name: z.string().max(200),
  country: z.string().max(200).optional(),
  country_code: z.string().max(10).optional(),
  admin1: z.string().max(200).optional(),
  latitude: z.number().min(-MAX_LAT).max(MAX_LAT),
  longitude: z.number().min(-MAX_LON).max(MAX_LON),
})
const Places = z.object({ results: z.array(Place).max(10).optional() })
const Numbers = z.array(z.number().nullable()).max(16)
const Texts = z.array(z.string().max(40)).max(16)
const Forecast = z.object({
  timezone: z.string().max(80),
  utc_offset_seconds: z.number().int(),
  current: z.object({
    time: z.string().max(40),
    temperature_2m: z.number(),
    relative_humidity_2m: z.number().nullish(),
    apparent_temperature: z.number().nullish(),
    precipitation: z.number().nullish(),
    weather_code: z.number().int(),
    wind_speed_10m: z.number().nullish(),
    wind_direction_10m: z.number().nullish(),
    is_day: z.number().nullish(),
  }),
  daily: z
    .object({
      time: Texts,
      temperature_2m_min: Numbers,
      temperature_2m_max: Numbers,
      precipitation_sum: Numbers,
      precipitation_probability_max: Numbers,
      weather_code: Numbers,
      wind_speed_10m_max: Numbers,
      sunrise: Texts,
      sunset: Texts,
    })
    .optional(),
})
type Forecast = z.output<typeof Forecast>

const CURRENT =
  'temperature_2m,relative_humidity_2m,apparent_temperature,precipitation,weather_code,wind_speed_10m,wind_direction_10m,is_day'
const DAILY =
  'temperature_2m_min,temperature_2m_max,precipitation_sum,precipitation_probability_max,weather_code,wind_speed_10m_max,sunrise,sunset'

type Spot = {
  readonly place: string
  readonly region?: string
  readonly country?: string
  readonly lat: number
  readonly lon: number
}

/** Current weather of a place and, on request, the next seven days. */
export const weather = defineService({
  slug: 'weather',
  needs: ['weather', 'geocoding'],
  isQuick: () => true,
  check: (input) => void coordinatesOf(input),
  async read(input, ctx) {
    const spot = coordinatesOf(input) ?? (await placeOf(ctx, textOf(input, 'city').trim()))
    const daily = input['include_forecast'] === true ? { daily: DAILY, forecast_days: String(DAYS) } : {}
    const query = {
      latitude: String(spot.lat),
      longitude: String(spot.lon),
      current: CURRENT,
      timezone: 'auto',
      ...daily,
    }
    const path = `/forecast?${new URLSearchParams(query)}`
    const asked = ctx.engines.weather.ask({ path, schema: Forecast, keepMs: KEEP_MS, signal: ctx.signal })
    return { spot, ...(await fromUpstream(asked)) }
  },
  make(_, { spot, value, at }): Json {
    const { current, timezone, utc_offset_seconds } = value
    return {
      ...spot,
      timezone,
      temperature_c: current.temperature_2m,
      feels_like_c: current.apparent_temperature ?? null,
      humidity_pct: current.relative_humidity_2m ?? null,
      precipitation_mm: current.precipitation ?? null,
      conditions: conditionsOf(current.weather_code),
      weather_code: current.weather_code,
      ...compact({ wind_kph: current.wind_speed_10m ?? undefined }),
      wind_direction_deg: current.wind_direction_10m ?? null,
      is_day: typeof current.is_day === 'number' ? current.is_day === 1 : null,
      observed_at: withOffset(current.time, utc_offset_seconds),
      ...(value.daily ? { forecast: daysOf(value.daily) } : {}),
      attribution: 'Weather data by Open-Meteo.com (CC BY 4.0)',
      source: 'Open-Meteo',
      engine: { name: 'open-meteo', version: '1', kind: 'upstream', fetched_at: new Date(at).toISOString() },
    }
  },
})

/** Coordinates of the input; undefined if only a city is given. @throws AppError `input_invalid` */
function coordinatesOf(input: JsonInput): Spot | undefined {
  const { lat, lon } = input
  const city = textOf(input, 'city').trim()
  if (lat === undefined && lon === undefined) {
    if (city === '') throw wrongField('city', 'required, unless lat and lon are given')
    return undefined
  }
  if (typeof lat !== 'number' || Math.abs(lat) > MAX_LAT)
    throw wrongField('lat', `must be from -${MAX_LAT} to ${MAX_LAT}`)
  if (typeof lon !== 'number' || Math.abs(lon) > MAX_LON)
    throw wrongField('lon', `must be from -${MAX_LON} to ${MAX_LON}`)
  return { place: city || `${lat}, ${lon}`, lat, lon }
}

const shortNames: Readonly<Record<string, string>> = { uk: 'gb', usa: 'us' }

/** Finds a place. The text after a comma must be the place's region or country: `Paris, Texas`. */
async function placeOf({ engines, signal }: ServiceCtx<'geocoding'>, city: string): Promise<Spot> {
  const [wanted = '', ...parts] = city.split(',').map((part) => part.trim().toLowerCase())
  const within = parts.map((part) => ownOf(shortNames, part) ?? part)
  const path = `/search?${new URLSearchParams({ name: wanted, count: '10', language: 'en' })}`
  const { value } = await fromUpstream(engines.geocoding.ask({ path, schema: Places, keepMs: KEEP_PLACE_MS, signal }))
  const found = value.results?.find(({ admin1, country, country_code }) => {
    const names = [admin1, country, country_code].map((name) => name?.toLowerCase())
    return within.every((part) => names.includes(part))
  })
  if (!found) throw wrongField('city', 'is not known; write its region or country in full, such as Paris, Texas')
  const { name, admin1, country, latitude, longitude } = found
  return { place: name, ...compact({ region: admin1, country }), lat: latitude, lon: longitude }
}

/** Weather codes of the WMO (table 4677). */
const conditions: Readonly<Record<number, string>> = {
  0: 'clear',
  1: 'mainly clear',
  2: 'partly cloudy',
  3: 'overcast',
  45: 'fog',
  48: 'freezing fog',
  51: 'light drizzle',
  53: 'drizzle',
  55: 'heavy drizzle',
  56: 'light freezing drizzle',
  57: 'freezing drizzle',
  61: 'light rain',
  63: 'rain',
  65: 'heavy rain',
  66: 'light freezing rain',
  67: 'freezing rain',
  71: 'light snow',
  73: 'snow',
  75: 'heavy snow',
  77: 'snow grains',
  80: 'light showers',
  81: 'showers',
  82: 'violent showers',
  85: 'light snow showers',
  86: 'snow showers',
  95: 'thunderstorm',
  96: 'thunderstorm with hail',
  99: 'thunderstorm with heavy hail',
}

function conditionsOf(code: number | null | undefined): string {
  return conditions[code ?? -1] ?? 'unknown'
}

/** Appends the UTC offset to a local time. */
function withOffset(local: string, offset: number): string {
  const zone = `${offset < 0 ? '-' : '+'}${new Date(Math.abs(offset) * SECOND_MS).toISOString().slice(11, 16)}`
  const time = `${local.length === 'YYYY-MM-DDTHH:MM'.length ? `${local}:00` : local}${zone}`
  if (Number.isNaN(Date.parse(time)))
    throw new AppError('provider_failed', 'The weather source sent an unreadable observation time.')
  return time
}

function daysOf(daily: NonNullable<Forecast['daily']>): Json[] {
  return daily.time.slice(0, DAYS).map((date, at) => ({
    date,
    min_c: daily.temperature_2m_min[at] ?? null,
    max_c: daily.temperature_2m_max[at] ?? null,
    precipitation_mm: daily.precipitation_sum[at] ?? null,
    precipitation_chance_pct: daily.precipitation_probability_max[at] ?? null,
    conditions: conditionsOf(daily.weather_code[at]),
    wind_max_kph: daily.wind_speed_10m_max[at] ?? null,
    sunrise: daily.sunrise[at] ?? null,
    sunset: daily.sunset[at] ?? null,
  }))
}
