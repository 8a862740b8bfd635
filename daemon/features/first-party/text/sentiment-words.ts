/*
 * English sentiment words and phrases. Weights: 1 mild, 2 plain, 3 strong; the sign is added when the table is built.
 * Words are base forms if -s, -ed, -ing and -ly only inflect them (`formsOf` finds those), and full forms otherwise.
 */

const positive = {
  3: `adore amazing amazingly amaze awesome brilliant delighted ecstatic excellent excel exceptional exquisite fabulous
    fantastic fantastically flawless glorious incredible incredibly love lovely loved magnificent marvelous marvellous
    masterpiece miraculous outstanding overjoyed perfect perfection phenomenal remarkable sensational spectacular
    splendid stunning sublime superb terrific thrilled thrill thrilling unbeatable wonderful wow best greatest`,
  2: `admire admirable attractive award beautiful beautifully beloved benefit beneficial bless blessed bliss bravo
    breathtaking celebrate charming cheerful commendable compelling congratulations cute dazzling delicious delight
    delightful elegant enjoy enjoyed enjoyable enthusiastic excite excited exciting favorite favourite friendly fun
    generous genius gift glad good goodness gorgeous grateful gratitude great happy happily happiness heartwarming
    helpful hero honest honor honour ideal impress impressed impressive improve improved improvement innovative inspire
    inspired inspiring intuitive joy joyful kind kindness laugh lucky luxurious masterful nice nicely optimistic
    passionate peaceful pleasant pleased pleases pleasing pleasure polite powerful praise premium pretty priceless proud
    recommend refreshing reliable reliably resolve respectful reward rewarding satisfied satisfying satisfy seamless
    skilled smile smooth smoothly sparkle stellar success succeed successful successfully superior surpass sweet
    talented tasty thank thanks thankful thoughtful treasure triumph trust trustworthy tasteful upbeat victory vibrant
    warm welcoming win winner wise witty worthwhile yummy faster cheaper`,
  1: `able accurate accurately advantage affordable agree agreeable appreciate appreciated bargain better bonus bright
    calm capable care careful carefully caring clean clear clearly clever comfortable comfort competent confident
    consistent consistently convenient cool correct courteous creative decent dependable durable eager ease easy easily
    effective efficient efficiently encourage encouraging engaging fair fast fine fit flexible fresh gain genuine gentle
    handy healthy help helped hope hopeful interested interesting like likeable liked memorable modern neat okay ok
    organized patient popular positive practical productive professional prompt promptly properly quick quickly quiet
    relax relaxed relief relieved rich robust safe safely secure sharp simple sleek smart solid stable straightforward
    strong sturdy suitable support supportive surprise sure swift thorough tidy timely useful valuable versatile
    welcome well worked worthy worth fixed upgrade exceeded exceed`,
} as const

const negative = {
  3: `abhorrent abominable abuse abusive appalling atrocious awful catastrophe catastrophic despicable despise
    devastated devastating disaster disastrous disgrace disgraceful disgust disgusted disgusting dreadful evil fraud
    fraudulent furious garbage ghastly hate hated hateful heartbroken hideous hopeless horrendous horrible horribly
    horrid horrific horrify infuriating loathe nightmare outrage outraged outrageous pathetic repulsive revolting
    scam scammed scammer terrible terribly terrify terrifying torture tragedy tragic trash unacceptable unbearable unusable
    useless vile worst worthless miserable crap crappy`,
  2: `afraid anger angry annoy annoyed annoying anxious arrogant ashamed awkward bad badly betray bitter blame bland
    boring bore bored break broke broken buggy careless cheat cheated clumsy cold complain complaint complained confuse
    confused confusing corrupt corrupted crash crashed crashes cruel crush cry damage damaged danger dangerous dead
    defect defective deceive deceptive degrade depress depressed depressing desperate destroy destroyed dirty
    disappoint disappointed disappointing disappointment dishonest dislike disrespectful dissatisfied distress
    disturbing dull embarrassing embarrassed enemy error errors fail failed failing fails failure fake fault faulty fear
    filthy flawed frightening frustrate frustrated frustrating frustration gloomy greedy grief gross guilty harm
    harmful harsh horror hostile hurt hurts idiot ignore ignored ignorant inaccurate incompetent inferior insult
    insulting irritate irritated irritating jealous junk kill lame lazy liar lie lied lonely lose loss lost lousy
    mad malicious mean mediocre mess messy mislead misleading mistake mistreated nasty neglect neglected nervous
    noisy obnoxious offended offensive overpriced pain painful panic poor poorly poison problem problematic punish
    regret reject rejected ridiculous rip rotten rude ruin ruined sad sadly scared shame shoddy sick sloppy sluggish
    smelly sorry spam stale steal stole stolen stress stressed stressful struggle stuck stupid suck sucks suffer
    suffered suffering suspicious threat threaten toxic trouble troubled ugly unfair unfortunate unfortunately unhappy
    unhelpful unpleasant unprofessional unreliable unresponsive unsafe unsatisfied untrustworthy unwelcome upset
    upsetting vague victim violent vomit waste wasted weak weird wicked worried worry worse wreck wrong wrongly
    slower leak leaked leaks stain stained cracked`,
  1: `absent abrupt aggressive alarm alone avoid average bother bug bugs burden cancel cancelled canceled cheap
    cheaply clunky clutter cluttered complex complicated concern concerned costly crowded cumbersome debt
    decline declined delay delayed deny denied difficult difficulty dim disagree doubt doubtful drain dropped
    dusty empty excessive expensive exhausted exhausting flimsy forget forgot greasy hard hassle heavy hesitate
    impatient impossible inadequate incomplete inconsistent inconvenient inefficient insufficient interrupt issue
    issues lack lacks lacking lag lags laggy late limited loud meh miss missed missing nag negative odd outdated
    painfully pointless pricey pushy questionable refuse refused refund repetitive rough rushed rusty scratch
    scratched shaky shallow shortage skeptical slow slowly stiff strange tired tiresome tough trivial
    uncomfortable uncertain unclear unexpected uneven unimpressed uninspired unnecessary unsure unstable unused
    vulnerable warn warning weakness waited wobbly worn ache returned strain`,
} as const

/** Idioms; matched first, longest first. */
export const phrases: ReadonlyMap<string, number> = new Map([
  ["can't wait", 2],
  ['cannot wait', 2],
  ["couldn't be happier", 3],
  ['could not be happier', 3],
  ["couldn't be better", 3],
  ["couldn't ask for more", 3],
  ["can't recommend enough", 3],
  ["can't complain", 1],
  ['cannot complain', 1],
  ['no complaints', 2],
  ['no problem', 1],
  ['no problems', 1],
  ['no issues', 1],
  ['no trouble', 1],
  ['not bad', 1],
  ['not bad at all', 2],
  ['piece of cake', 1],
  ['over the moon', 3],
  ['out of this world', 3],
  ['second to none', 3],
  ['worth it', 2],
  ['worth every penny', 3],
  ['thumbs up', 2],
  ['thumbs down', -2],
  ['five stars', 3],
  ['5 stars', 3],
  ['one star', -3],
  ['1 star', -3],
  ['zero stars', -3],
  ['two stars', -2],
  ['top notch', 3],
  ['must have', 2],
  ['must read', 2],
  ['must see', 2],
  ['a blast', 2],
  ['breath away', 2],
  ['money back', -2],
  ['charged twice', -2],
  ['hit or miss', -1],
  ['so so', -1],
  ['waste of time', -3],
  ['waste of money', -3],
  ['waste of', -2],
  ['ripped off', -3],
  ['rip off', -3],
  ['let down', -2],
  ['fed up', -2],
  ['sick of', -2],
  ['tired of', -2],
  ['never again', -3],
  ['stay away', -3],
  ['falls apart', -2],
  ['fell apart', -2],
  ['fall apart', -2],
  ['stopped working', -2],
  ['does not work', -2],
  ["doesn't work", -2],
  ["didn't work", -2],
  ['did not work', -2],
  ["don't bother", -2],
  ['not worth', -2],
  ['leaves much to be desired', -2],
  ['leaves a lot to be desired', -2],
  ['could be better', -1],
  ['could have been better', -1],
  ['nothing special', -1],
  ['not great', -1],
  ['too small', -1],
  ['too big', -1],
  ['too short', -1],
  ['too long', -1],
  ['too much', -1],
  ['too many', -1],
  ['too bad', -1],
  ['kind of', 0],
  ['sort of', 0],
  ['at best', -1],
  ['as well', 0],
  ['as well as', 0],
  ['well known', 0],
  ['used to', 0],
  ['fine print', 0],
  ['pretty much', 0],
  ['make sure', 0],
  ['made sure', 0],
  ['for sure', 0],
  ['not sure', -1],
  ['looks like', 0],
  ['look like', 0],
  ['feels like', 0],
  ['seems like', 0],
  ['sounds like', 0],
  ['would like', 0],
  ['things like', 0],
  ['something like', 0],
  ['just like', 0],
  ['customer care', 0],
  ['hard drive', 0],
  ['hard disk', 0],
  ['cut off', -1],
  ['no longer', -1],
  ['good luck', 0],
  ['good morning', 0],
  ['good evening', 0],
  ['no good', -2],
  ['no fun', -2],
  ['no help', -2],
])

export const negators: ReadonlySet<string> = new Set(
  `not no never none nobody nothing neither nor without hardly barely scarcely cannot cant wont dont doesnt didnt isnt
  wasnt arent werent couldnt wouldnt shouldnt`.split(/\s+/),
)

/** Words that negate a following negative word, never a positive one. */
export const removers: ReadonlySet<string> = new Set(
  `fix fixes fixed fixing solve solves solved resolve resolves resolved prevent prevents prevented avoid avoids avoided
  eliminate eliminates eliminated reduce reduces reduced remove removes removed end ended stops stopped zero free
  relieves relieved cure cured`.split(/\s+/),
)

/** Factors of intensifiers and diminishers. */
export const degrees: ReadonlyMap<string, number> = new Map([
  ...`very really so extremely incredibly absolutely totally completely highly utterly deeply truly super
    exceptionally insanely ridiculously seriously particularly especially genuinely remarkably thoroughly such
    definitely simply`
    .split(/\s+/)
    .map((word) => [word, 1.35] as const),
  ...'slightly somewhat fairly rather partly a-bit mildly marginally relatively almost mostly'
    .split(/\s+/)
    .map((word) => [word, 0.65] as const),
  ['quite', 1.1],
  ['pretty', 1.1],
  ['too', 1.1],
])

/** Conditionals weaken. */
export const suppositions: ReadonlySet<string> = new Set(
  'if would could should might supposed expected hoped hoping wish wished unless whether'.split(' '),
)

/** Conjunctions after which the main point follows. */
export const turns: ReadonlySet<string> = new Set(['but', 'however', 'nevertheless', 'nonetheless', 'yet', 'except'])

/** Emoji; joined variants are matched without variation selectors. */
export const pictures: ReadonlyMap<string, number> = new Map([
  ...[...'😀😃😄😁😊🙂😍🥰😘😂🤩🥳👍👏🎉💯🙏😎🔥💖😋'].map((one) => [one, 2] as const),
  ...[...'👎😢😭😡😠🤬🤮🤢😞😔💔😩😫🙁😤💩😱'].map((one) => [one, -2] as const),
  ['❤', 2],
  ['☹', -2],
  [':)', 1.5],
  [':-)', 1.5],
  [':D', 2],
  [';)', 1],
  ['<3', 2],
  [':(', -1.5],
  [':-(', -1.5],
  [":'(", -2],
  ['D:', -1.5],
])

function weighted(table: Readonly<Record<string, string>>, sign: 1 | -1): [string, number][] {
  return Object.entries(table).flatMap(([weight, words]) =>
    words.split(/\s+/).map((word): [string, number] => [word, sign * Number(weight)]),
  )
}

/** Sentiment words with weights from -3 to 3. */
export const judgements: ReadonlyMap<string, number> = new Map([...weighted(positive, 1), ...weighted(negative, -1)])

const praise = 'great|wonderful|fantastic|brilliant|lovely|perfect|nice|awesome|super|amazing|excellent|cool'

/** Irony markers: for a whole text, a sentence, and a sentence in a text with real criticism. */
export const ironies = {
  text: /(^|\s)\/s(?=[\s.!]*$)/i,
  sentence: /\byeah,? right\b|\bthanks for nothing\b|\bslow clap\b|\bso much for\b|🙄/iu,
  beforeBlame: new RegExp(
    `^\\W*(?:(?:oh|yeah|wow|well|just|how|so)\\b[\\s,.!…]*)?(?:${praise})\\b[\\s,.!…]+(?:yet |just )?(?:another|more|now)\\b` +
      `|^\\W*(?:oh|yeah)\\b[\\s,.!…]+(?:${praise})\\b` +
      '|\\bjust what (?:i|we) (?:needed|wanted|always wanted)\\b|\\bhow (?:nice|kind|thoughtful|lovely) of\\b',
    'iu',
  ),
} as const
