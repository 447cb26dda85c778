/** Writes the parts of a workbook that hold no records: its list of sheets, its styles and its texts. */
import { xmlText } from './cell-text.js';

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const mainNamespace = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packages = 'http://schemas.openxmlformats.org/package/2006';
const sheetTypes = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** The styles of cells, by their number in the part. */
export const styles = { plain: 0, text: 1, head: 2, exact: 3, time: 4, label: 5, wrapped: 6 };

/** Opens a sheet's part. */
export const sheetStart = `${head}<worksheet xmlns="${mainNamespace}">`;

// Text cells have the format @: what is typed into them stays text. Number format 164 is a time.
const styleSheet = `${head}<styleSheet xmlns="${mainNamespace}"><numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts><fonts count="3"><font><sz val="11"/><name val="Calibri"/><family val="2"/></font><font><b/><sz val="11"/><name val="Calibri"/><family val="2"/></font><font><sz val="11"/><color rgb="FF7F7F7F"/><name val="Calibri"/><family val="2"/></font></fonts><fills count="3"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill><fill><patternFill patternType="solid"><fgColor rgb="FFF2F2F2"/><bgColor indexed="64"/></patternFill></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="7">${[
  '<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>',
  '<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>',
  '<xf numFmtId="49" fontId="1" fillId="2" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1" applyFill="1"/>',
  '<xf numFmtId="49" fontId="2" fillId="2" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1" applyFill="1"/>',
  '<xf numFmtId="164" fontId="2" fillId="2" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1" applyFill="1"/>',
  '<xf numFmtId="49" fontId="1" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1" applyAlignment="1"><alignment vertical="top"/></xf>',
  '<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyAlignment="1"><alignment vertical="top" wrapText="1"/></xf>',
].join(
  '',
)}</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`;

/** The name of a sheet, and the range that its filter covers. */
interface SheetPart {
  readonly name: string;
  /** `$A$1:$F$413` */
  readonly filter?: string | undefined;
}

/** Returns the parts of a workbook beside its sheets and texts, by their paths. */
export function frameParts(sheets: readonly SheetPart[]): readonly (readonly [string, string])[] {
  const filters = sheets.map(({ name, filter }, index) =>
    filter === undefined
      ? ''
      : `<definedName name="_xlnm._FilterDatabase" localSheetId="${index}" hidden="1">'${xmlText(name.replaceAll("'", "''"))}'!${filter}</definedName>`,
  );
  const names = filters.join('');
  return [
    [
      '[Content_Types].xml',
      `${head}<Types xmlns="${packages}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${type('workbook.xml', 'sheet.main')}${sheets.map((_, index) => type(`worksheets/sheet${index + 1}.xml`, 'worksheet')).join('')}${type('styles.xml', 'styles')}${type('sharedStrings.xml', 'sharedStrings')}</Types>`,
    ],
    [
      '_rels/.rels',
      `${head}<Relationships xmlns="${packages}/relationships">${relation(1, 'officeDocument', 'xl/workbook.xml')}</Relationships>`,
    ],
    [
      'xl/workbook.xml',
      `${head}<workbook xmlns="${mainNamespace}" xmlns:r="${office}"><bookViews><workbookView activeTab="0"/></bookViews><sheets>${sheets.map(({ name }, index) => `<sheet name="${xmlText(name)}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`).join('')}</sheets>${names === '' ? '' : `<definedNames>${names}</definedNames>`}</workbook>`,
    ],
    [
      'xl/_rels/workbook.xml.rels',
      `${head}<Relationships xmlns="${packages}/relationships">${sheets.map((_, index) => relation(index + 1, 'worksheet', `worksheets/sheet${index + 1}.xml`)).join('')}${relation(sheets.length + 1, 'styles', 'styles.xml')}${relation(sheets.length + 2, 'sharedStrings', 'sharedStrings.xml')}</Relationships>`,
    ],
    ['xl/styles.xml', styleSheet],
  ];
}

function type(path: string, kind: string): string {
  return `<Override PartName="/xl/${path}" ContentType="${sheetTypes}.${kind}+xml"/>`;
}

function relation(id: number, kind: string, target: string): string {
  return `<Relationship Id="rId${id}" Type="${office}/${kind}" Target="${target}"/>`;
}

/** The texts of a workbook, each once. */
export class SharedTexts {
  private readonly numbers = new Map<string, number>();
  private uses = 0;

  numberOf(text: string): number {
    this.uses += 1;
    const known = this.numbers.get(text);
    if (known !== undefined) return known;
    const number = this.numbers.size;
    this.numbers.set(text, number);
    return number;
  }

  *part(): Generator<string> {
    yield `${head}<sst xmlns="${mainNamespace}" count="${this.uses}" uniqueCount="${this.numbers.size}">`;
    for (const text of this.numbers.keys()) {
      const space = /^\s|\s$|[\n\t]| {2}/.test(text) ? ' xml:space="preserve"' : '';
      yield `<si><t${space}>${xmlText(text)}</t></si>`;
    }
    yield '</sst>';
  }
}
