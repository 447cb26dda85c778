/** The people of the demo data: invented names, addresses and chat users. */
/** A person of the demo data; invented, with mail at example domains only. */
export interface Person {
  readonly name: string;
  readonly email: string;
  /** 19 digits from the year 2082 on, so that it can belong to nobody; above what a double holds. */
  readonly discordUserId: string;
  readonly discordUsername: string;
  /** The word that gamer tags are made of. */
  readonly nick: string;
}

const given = words(`
  Nimbus Tarn Ilka Bram Soraya Juno Edda Rafi Wren Kasimir Odile Teo Amaru Linnea Yusra
  Pavel Noor Matthis Chiara Dunja Eskil Farah Goran Hana Isandro Kirsi Lev Mirembe Nilo
  Orla`);

const family = words(`
  Kite Ember Quellwasser Vantree Osterlund Marrowby Falkenrade Tsukiyo Almendrado
  Brightwater Corvane Dorsk Eastmere Fjellgaard Gansevoort Halloran-Pike Ibarrola
  Jaskari Kolmarden Lumbreras Mandelkow`);

const animals = words(`
  Otter Lynx Heron Newt Badger Moth Ibis Stoat Gecko Plover Marten Quokka Vole`);

const domains = ['example.com', 'example.org', 'example.net'];

/** The person with this number, always the same. Names repeat from 630 on, addresses never. */
export function demoPerson(number: number): Person {
  const first = given[number % given.length] ?? '';
  const last = family[(number + Math.floor(number / given.length) * 4) % family.length] ?? '';
  return personNamed(number, first, last);
}

/** The person with this number under another name, of which address and chat user are made. */
export function personNamed(number: number, first: string, last: string): Person {
  const nick = `${first}${animals[number % animals.length]}`;
  const suffix = number < 210 ? '' : String(number);
  return {
    name: `${first} ${last}`,
    email: `${first}.${last}${suffix}@${domains[number % domains.length]}`.toLowerCase(),
    discordUserId: `9000000000000${String(100_000 + number * 37).padStart(6, '0')}`,
    discordUsername: `${nick.toLowerCase()}_demo${suffix}`,
    nick,
  };
}

/** A gamer tag that is plainly invented: at most 16 characters and the tag DEMO. */
export function demoGamerTag({ nick }: Person): string {
  return `${nick.slice(0, 16)}#DEMO`;
}

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
