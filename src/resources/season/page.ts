/** The page of `report`: its facts and charts, before they are HTML or Markdown. */

/** A page about the applications of a season, for people outside this tool. */
export interface SeasonPage {
  readonly organization: string;
  /** The number of applications; `few` if that is a small group itself. */
  readonly total: number | 'few';
  /** The filters, in words. */
  readonly filters: readonly string[];
  readonly charts: readonly SeasonChart[];
  /** True if small groups are shown. */
  readonly isExact: boolean;
  readonly madeAt: Date;
  readonly version: string;
}

/** One chart with the numbers behind it. */
export interface SeasonChart {
  readonly title: string;
  /** The head of the first column: the kind of thing that a row counts. */
  readonly unit: string;
  readonly note?: string | undefined;
  readonly rows: readonly ChartRow[];
  /** The sentence in place of the rows. */
  readonly instead?: string | undefined;
  /** A chart over time; without, each row is a bar. */
  readonly timeline?: TimeColumns | undefined;
}

/** One row: a label, which may be text of an applicant, and its number. */
export interface ChartRow {
  readonly label: string;
  /** Undefined where a number would give away a small group. */
  readonly count: number | undefined;
  /** The words in place of a number. */
  readonly words?: string;
}

/** The columns of a chart over time, and the days at its ends. */
export interface TimeColumns {
  /** The meaning of a column's height, in words. */
  readonly scale: string;
  readonly columns: readonly TimeColumn[];
  readonly from: string;
  readonly to: string;
}

/** A column of a chart over time: as wide as its steps, as high as their average. */
export interface TimeColumn {
  readonly first: number;
  readonly width: number;
  readonly height: number;
}
