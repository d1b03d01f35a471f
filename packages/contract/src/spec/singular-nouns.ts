/**
 * English nouns in the singular that have another plural, and that people name collections by (RES-1). A list, because
 * no rule tells the singular of English from a word of another language: Kunden and Termine are plurals too.
 */

const nouns: ReadonlySet<string> = new Set(
  `
  account act action activity actor address admin administrator adult adventure advertisement affiliate agency agent
  agreement aim airline airport alarm album alert alias allergy allocation analysis analyst animal annotation
  announcement answer antenna apartment api app appendix applicant application appointment approval archive area
  argument arm army arrival article artifact artist artwork asset assignee assignment assistant association athlete
  attachment attack attempt attendee attribute auction audit author authority availability avatar average award axis
  baby backup badge bag bakery balance ball band bank banner bar barcode base basis basket batch battery bay beach bed
  bedroom beer bench beneficiary benefit bicycle bid bidder bike bill bin bird birthday block blog board boat body
  bonus book booking bookmark boss bottle box boy branch brand break brewery brick bridge brother browser bucket
  budget bug builder building bundle bus business button buyer cabin cabinet cable cache cafe cake calculation
  calendar call caller camera camp campaign campus candidate canvas car card career carrier cart case castle cat
  catalog catalogue category cell center centre certificate chain chair challenge change channel chapter character
  charge chart chat check checklist checkout chef child choice church circle city claim class classification classroom
  clause client clinic clock club cluster coach code coin collaborator colleague collection collector college color
  colour column combination comment commit committee community company comparison competition competitor complaint
  component computer concept concert condition conference configuration conflict connection connector constraint
  consultant consumer contact container contest context continent contract contractor contribution contributor control
  conversation cookie corner correction cost council counter country county coupon course court cousin cover creator
  credential credit crew crime criterion critic crop crowd currency curriculum cursor curve customer cycle dance
  dashboard database dataset date datum daughter day deal dealer debt decision defect definition degree delay delegate
  delivery department departure dependency deployment deposit depot description design designer desk destination
  detail developer device diagnosis diagram diary dictionary dimension dinner director directory discount discovery
  discussion disease dish disk dispatch display dispute distance distribution distributor district division dock
  doctor document dog domain donation donor door download draft drawing dream dress drink drive driver drone drug
  duplicate duty ear earthquake edge edition editor effect egg election element elephant elf email employee employer
  endpoint engagement engine engineer enrollment enterprise entity entry envelope environment episode equation erratum
  error essay estate estimate evaluation event exam examination example exception exchange exercise exhibit exhibition
  expense experience experiment expert explanation export extension extract eye face facility fact factory failure
  family fan farm farmer father favorite favourite feature fee fence festival field figure file film filter finding
  fine firm fixture flag flat fleet flight floor flow flower folder follower font foot form format formula forum
  foundation founder fragment frame framework freelancer friend friendship function fund future gadget gallery game
  gamer gap garage garden gate gateway gem gender gene generation genre gift girl glass glossary goal goose government
  grade grant graph grid grocery group grove guarantee guard guest guide guideline guild guitar habit half hall hammer
  hand handler hash hashtag hat hazard head header headline heart height hero highlight hint hobby holding hole
  holiday home hook horse hospital host hotel hour house household hub human husband icon idea identifier identity
  illness image import importer impression improvement incident income index indicator individual industry ingredient
  inquiry insect insight inspection inspector installation instance institute institution instruction instructor
  instrument integration interaction interest interface intersection interview introduction invention inventory
  investigation investment investor invitation invite invoice island issue item iteration itinerary jacket job joint
  joke journal journalist journey judge judgment juror jury key keyboard keyword kid kind king kiosk kiss kitchen kite
  knee knife lab label laboratory ladder lake lamp lane language laptop law lawsuit lawyer layer layout lead leader
  leaf league lease lecture lecturer leg lender lens lesson letter level library licence license life lift light limit
  line link lion list listener listing load loan location lock locker log logbook login logo look lookup loop loss lot
  lottery louse lover machine magazine mailbox maker mall man manager mandate manual manufacturer map mark marker
  market mask mass match mate material matrix matter maximum mayor meal meaning measure measurement mechanic mechanism
  medal medication medicine medium meeting member membership memo memory menu merchant message meter method metric
  microservice migration mile milestone minister minute mirror mission mistake mix mobile mode model moderator module
  molecule moment monitor monkey month monument mood mortgage mother motor motorcycle mountain mouse mouth move
  movement movie museum mushroom musician mystery nail name namespace nation neck need neighbor neighborhood neighbour
  nest net network newsletter newspaper nickname niece night node nomination norm nose note notebook notice
  notification noun novel nucleus number nurse nut object objective observation occasion occupation offer office
  officer operation operator opinion opponent opportunity option orange orchestra order organ organisation
  organization organizer origin outage outcome outlet output oven owner ownership ox pack package packet page pair
  palette pan panel paper paragraph parameter parcel parent park parliament part participant participation particle
  partner partnership party pass passage passenger passport password patch patent path patient pattern payee payer
  payment payout pen penalty pencil pension percentage performance period permission permit person persona pet
  petition pharmacy phase phenomenon phone photo photographer phrase physician piano picture piece pig pilot pin
  pipeline place placeholder placement plan plane planet plant plate platform play player playlist plot plugin pocket
  podcast poem poet point policy politician poll pool population port portal portfolio portrait position post postcard
  pot potato practice prediction preference premium prescription presentation presenter preset president price
  principle printer priority prison prisoner prize probe problem procedure process processor producer product
  production profession professional professor profile program programme progression prohibition project promise
  promotion proof property proposal prospect protocol prototype provider province proxy publication publisher purchase
  purchaser purpose puzzle quality quantity quarter queen query quest question questionnaire queue quiz quota
  quotation quote race rack radio radius raffle range rank ranking rating ratio reaction reactor reader reading reason
  rebate receipt receiver recipe recipient recommendation record recording recruiter rectangle referee reference
  referendum referral refund region register registration registry regulation relation relationship release reminder
  renewal rental repair reply report reporter repository representative reptile request requester requirement
  reservation residence resident resolution resource respondent response restaurant restriction result retailer return
  review reviewer revision reward ride right ring risk ritual river road roadmap robot rock role roll room roommate
  root rope roster rotation round route router routine row rule runner sale salesman salesperson sample sandwich
  satellite scan scenario scene schedule schema scholar scholarship school science scientist scope score screen
  screenshot script sculpture sea season seat secret secretary section sector seed segment selection self seller
  seminar sender sensor sentence sequence server service session set setting settlement shape share shareholder sheet
  shelf shift ship shipment shipper shirt shoe shop shopper shot show shower sibling side sign signal signature
  simulation singer sink sister site situation size sketch skill skin slide slot snapshot snippet society sofa soldier
  solution son song sort sound source space speaker specialist specification spectrum speech sponsor sponsorship spoon
  sport spot spouse sprint squad square stack stadium stage stair stakeholder stamp standard star start state
  statement station statistic status stem step stimulus stop store story storyboard stranger strategy stratum street
  string strip structure student studio study style subject submission subscriber subscription subsidiary substance
  suburb suggestion suit suite supervisor supplement supplier surface surgery survey suspect sweater switch syllabus
  symbol symposium symptom syndrome synonym system table tablet tag tail talent talk tank task tax taxi taxonomy
  taxpayer teacher team technician technique technology template temple tenant tender tent term terminal territory
  test tester text theater theatre theft theme theory therapist therapy thesis thief thing thought thread threat
  ticket tier tile time timeline timer timesheet timeslot timestamp timezone tip tire title toast token tomato tool
  toolbox tooth topic torrent touch tour tourist tournament tower town toy track tracker trade trademark tradition
  trail trailer train trainee trainer transaction transcript transfer transition translation translator traveler
  traveller treasure treatment tree trend trial tribe trigger trip trophy truck trust truth tube tune tunnel turn
  tutor tutorial twin type unit university update upgrade upload url user username vacancy vacation vaccination
  vaccine valuation value variable variant variation variety vault vector vegetable vehicle vendor venture venue
  verdict version vertex vessel veto victim video view viewer villa village vineyard violation virus visit visitor
  volcano volume volunteer vote voter voucher voyage vulnerability wall wallet warehouse warning warranty watch
  watcher wave waypoint weapon webhook webinar website wedding week weekend weight wheel whiteboard widget wife wiki
  window wine winery winner wire wish wishlist witness wolf woman word workbook worker workflow workout workshop
  workspace workstation world worm writer yacht yard year zip zone zoo`
    .trim()
    .split(/\s+/),
)

/** Whether a word in lower case is one of them. Words that the list does not have count as plurals. */
export function isSingularNoun(word: string): boolean {
  return nouns.has(word)
}
