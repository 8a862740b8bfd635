import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runJq } from './evaluate.ts'

const data = {
  total: 3,
  crons: { b: { stale: true, age: null }, a: { stale: false, age: 3 } },
  tags: ['x', 'y', 'x'],
  services: [
    { id: 's1', price: 2.5, agent: { fixed: '$0.263' }, tags: ['a'], ok: true },
    { id: 's2', price: 1, agent: { fixed: null }, tags: [], ok: false },
    { id: 's3', price: 2.5, agent: { fixed: '$1' }, tags: ['b', 'c'], ok: null },
  ],
  n: -4,
  s: 'a\tb"c',
  deep: [[1, [2]], 3],
  u: 'grün',
}

describe('jq', () => {
  // What jq 1.7 itself answers.
  it.each<[string, unknown[]]>([
    ['.crons|keys', [['a', 'b']]],
    ['.services[].id', ['s1', 's2', 's3']],
    ['.services[-1].id', ['s3']],
    ['.services[1:]|map(.id)', [['s2', 's3']]],
    ['.missing.x', [null]],
    ['.services[0]["id"]', ['s1']],
    ['.crons|to_entries|from_entries|keys', [['a', 'b']]],
    ['.crons|with_entries({key:.key,value:.value.stale})', [{ b: true, a: false }]],
    ['[.services[]|select(.price>1)|.id]', [['s1', 's3']]],
    ['.services|map(select(.ok|not).id)', [['s2', 's3']]],
    ['.services|sort_by(.price,.id)|map(.id)', [['s2', 's1', 's3']]],
    ['.services|group_by(.price)|map(length)', [[1, 2]]],
    ['.services|unique_by(.price)|map(.id)', [['s2', 's1']]],
    ['.services|min_by(.price).id,max_by(.price).id', ['s2', 's3']],
    ['.tags|unique,reverse,first,last,add', [['x', 'y'], ['x', 'y', 'x'], 'x', 'x', 'xyx']],
    ['[.services[].price]|add', [6]],
    ['{id:.services[0].id,n}', [{ id: 's1', n: -4 }]],
    [
      '{a:(1,2),b:(3,4)}',
      [
        { a: 1, b: 3 },
        { a: 1, b: 4 },
        { a: 2, b: 3 },
        { a: 2, b: 4 },
      ],
    ],
    ['{(.s):2}', [{ 'a\tb"c': 2 }]],
    ['[.services[]|{id,price}]|last', [{ id: 's3', price: 2.5 }]],
    ['.services[]|[.id,.price,.ok]|@tsv', ['s1\t2.5\ttrue', 's2\t1\tfalse', 's3\t2.5\t']],
    ['[.s,1,null]|@csv', ['"a\tb""c",1,']],
    ['.s|@json', ['"a\\tb\\"c"']],
    [String.raw`"id \(.services[0].id) costs \(.services[0].price+1)"`, ['id s1 costs 3.5']],
    ['.services[].agent.fixed // "none"', ['$0.263', '$1']],
    ['[.services[]|.agent.fixed // empty]', [['$0.263', '$1']]],
    ['if .total>5 then 1 elif .total>2 then 2 else 3 end', [2]],
    ['.total+1,.total-1,.total*2,.total/2,.total%2,-.n', [4, 2, 6, 1.5, 1, 4]],
    ['1-1', [0]],
    ['[1,2,3]-[2]', [[1, 3]]],
    ['"a,b"/","', [['a', 'b']]],
    ['{a:1}+{b:2}', [{ a: 1, b: 2 }]],
    ['null+1', [1]],
    ['.services|any(.ok),all(.ok)', [true, false]],
    [
      '.deep|flatten,flatten(1)',
      [
        [1, 2, 3],
        [1, [2], 3],
      ],
    ],
    [
      '[range(3)],[range(1;3)]',
      [
        [0, 1, 2],
        [1, 2],
      ],
    ],
    ['.u|length,test("^GR";"i"),ltrimstr("gr"),ascii_upcase', [4, true, 'ün', 'GRüN']],
    ['.tags|has(2),has(3),contains(["x"])', [true, false, true]],
    ['"a-b"|split("-")|join("+")', ['a+b']],
    ['["a",1,null]|join("-")', ['a-1-']],
    ['"12"|tonumber', [12]],
    ['[.[]|type]', [['number', 'object', 'array', 'array', 'number', 'string', 'array', 'string']]],
    ['.total[]?', []],
    ['[.services[]?.tags[]]', [['a', 'b', 'c']]],
    ['1==1.0,"a"<"b",[1]<[2],null<false,{}>[]', [true, true, true, true, true]],
    ['(true,false) and true', [true, false]],
    ['[limit(2;.services[].id)],first(.services[].id)', [['s1', 's2'], 's1']],
    ['.crons|map_values(.age)', [{ b: null, a: 3 }]],
    ['[3,"a",null,true,[1],{"a":1},false]|sort', [[null, false, true, 3, 'a', [1], { a: 1 }]]],
    ['[1,2|.+1]', [[2, 3]]],
    ['.services|map({(.id):.price})|add', [{ s1: 2.5, s2: 1, s3: 2.5 }]],
    ['.services|map(select(.tags|length>0).id)', [['s1', 's3']]],
    ['[..|select(type=="number")]', [[3, 3, 2.5, 1, 2.5, -4, 1, 2, 3]]],
    ['.a?.b', [null]],
    [String.raw`"\u00e9\n"`, ['é\n']],
    ['[[1,2],[1]]|sort', [[[1], [1, 2]]]],
    ['.n|tojson,tostring,length', ['-4', '-4', 4]],
    ['.u|.[0:2]', ['gr']],
    ['[] | first,add,min', [null, null, null]],
  ])('%s', (expression, expected) => {
    expect(runJq(expression, data)).toEqual(expected)
  })

  it.each([
    ['.x = 1', '"=", character 4'],
    ['.crons | del(.a)', '"del(", character 10'],
    ['.services as $x | 1', '"$", character 14'],
    ['def f: 1; f', '"def", character 1'],
    ['try error', '"try", character 1'],
    ['@base64', '"@base64", character 1'],
    ['.services | explode', '"explode", character 13'],
    ['map(.a; .b)', '"map(", character 1'],
    ['.services[', 'the end of the expression, character 11'],
    ['"id \\(.nope(1))"', '"(", character 12'],
    ['1 2', '"2", character 3'],
    ["'a'", '"\'", character 1'],
  ])('%s is refused by name and place, never guessed', (expression, place) => {
    expect(() => runJq(expression, data)).toThrow(place)
  })

  it.each([
    ['.total[0]', 'Cannot index number'],
    ['.[]|.[]|.x', 'Cannot'],
    ['.total|keys', 'is not an object'],
    ['1/0', 'divided by zero'],
    ['[range(1000000)]', 'a range of more than'],
    ['.u|test("(")', 'is not a regular expression'],
  ])('%s does not fit the value', (expression, why) => {
    expect(() => runJq(expression, data)).toThrow(why)
  })

  it('keeps bigint as decimal text and a __proto__ member as a member', () => {
    expect(runJq('.a', { a: 10n })).toEqual(['10'])
    const [made] = runJq('{"__proto__": 1} | keys', null)
    expect(made).toEqual(['__proto__'])
  })

  const json = fc.jsonValue({ maxDepth: 3 })
  it('identity, entries and sorting hold for any value', () => {
    fc.assert(
      fc.property(json, fc.array(json), (value, list) => {
        const plain = JSON.parse(JSON.stringify(value))
        expect(runJq('.', plain)).toEqual([plain])
        expect(runJq('[..]|length', plain)[0]).toBeGreaterThan(0)
        expect(runJq('sort|sort == (.|sort)', list)).toEqual([true])
        expect(runJq('(sort|length) == length', list)).toEqual([true])
        expect(runJq('(unique|length) <= length', list)).toEqual([true])
      }),
      { numRuns: 60 },
    )
  })

  it('refuses any other text as a usage error', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'.[]{}()|,:;"\\ a1+-=@$?'), maxLength: 12 }), (expression) => {
        try {
          runJq(expression, data)
        } catch (error) {
          expect(error).toMatchObject({ name: 'CliError', exit: 'usage' })
        }
      }),
      { numRuns: 500 },
    )
  })
})
