/* Formats: their notation, texts made of them, texts taken apart, and which of them can meet. */
#include "core/map/format.h"

#include "tests/unit/check.h"

static struct arena arena; /* of the formats of one test */

static struct format parse(const char *text)
{
    struct format format;
    const char *wrong = format_parse(&arena, span_text(text), &format);
    if (wrong)
        CHECK_FAIL("\"%s\": %s", text, wrong);
    return format;
}

static void check_refused(const char *text, const char *why)
{
    struct format format;
    const char *wrong = format_parse(&arena, span_text(text), &format);
    arena_clean_up(&arena);
    CHECK(wrong != NULL);
    CHECK_TEXT(wrong, why);
}

/* What TEXT is taken apart into, as "a=x,b=y", or "no". */
static void write_captures(const struct bindings *captures, bool ok, struct buf *out)
{
    if (!ok)
        buf_add_text(out, "no");
    for (size_t i = 0; ok && i < captures->count; i++) {
        buf_printf(out, "%s%s=", i ? "," : "", captures->items[i].param);
        buf_add_span(out, captures->items[i].value);
    }
}

static void check_match(const char *format_text, const char *text, const char *want)
{
    struct bindings captures = {0};
    struct buf got = {0};
    char copy[200];
    struct format format = parse(format_text);
    bool ok = format_match(&format, span_text(text), &captures);
    size_t left = captures.count;
    write_captures(&captures, ok, &got);
    snprintf(copy, sizeof copy, "%s", buf_text(&got));
    buf_clean_up(&got);
    arena_clean_up(&arena);
    CHECK_TEXT(copy, want);
    CHECK(ok || left == 0);
}

static struct format parse_key(const char *text)
{
    struct format format;
    const char *wrong = format_parse_key(&arena, span_text(text), &format);
    if (wrong)
        CHECK_FAIL("\"%s\": %s", text, wrong);
    return format;
}

static void check_key(const char *format_text, const char *text, const char *want)
{
    struct bindings captures = {0};
    struct buf got = {0};
    char copy[200];
    struct format format = parse_key(format_text);
    bool ok = format_match_key(&format, span_text(text), '#', &captures);
    size_t left = captures.count;
    write_captures(&captures, ok, &got);
    snprintf(copy, sizeof copy, "%s", buf_text(&got));
    buf_clean_up(&got);
    arena_clean_up(&arena);
    CHECK_TEXT(copy, want);
    CHECK(ok || left == 0);
}

static bool overlap(const char *a, const char *b)
{
    struct format left = parse(a), right = parse(b);
    bool one = format_overlaps(&left, &right);
    bool other = format_overlaps(&right, &left);
    arena_clean_up(&arena);
    CHECK_INT(one, other);
    return one;
}

static bool overlap_within(const char *a, const char *b)
{
    struct format left = parse(a), right = parse(b);
    bool one = format_overlaps_within(&left, &right, SPAN_LITERAL("#"));
    bool other = format_overlaps_within(&right, &left, SPAN_LITERAL("#"));
    arena_clean_up(&arena);
    CHECK_INT(one, other);
    return one;
}

static void check_written(const char *text)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct format format = parse(text);
    format_write(&format, &out);
    arena_clean_up(&arena);
    CHECK_TEXT(buf_text(&out), text);
}

static void test_how_a_key_spells_its_parts_is_written(void)
{
    struct format_piece pieces[] = {
        {.param = "email", .letters = FORMAT_LOWER},
        {.literal = SPAN_LITERAL("#")},
        {.param = "all", .open = true, .letters = FORMAT_UPPER},
        {.literal = SPAN_LITERAL("#")},
        {.param = "score", .pad = 5},
    };
    struct format format = {pieces, 5}, copy;
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    CHECK(format_copy(&arena, &format, &copy));
    format_write(&copy, &out);
    arena_clean_up(&arena);
    CHECK_TEXT(buf_text(&out), "{email:lower}#{all*:upper}#{score:05}");
}

static void check_key_refused(const char *text, const char *why)
{
    struct format format;
    const char *wrong = format_parse_key(&arena, span_text(text), &format);
    arena_clean_up(&arena);
    CHECK_TEXT(wrong ? wrong : "fine", why);
}

static void test_the_notation_of_spellings(void)
{
    static const char *const good[] = {"{email:lower}", "A{all*:upper}", "S#{score:05}#{id}",
                                       "{n:01}-{m:038}"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        CLEAN_UP(buf_clean_up) struct buf out = {0};
        struct format format = parse_key(good[i]);
        format_write(&format, &out);
        arena_clean_up(&arena);
        CHECK_TEXT(buf_text(&out), good[i]);
        check_refused(
            good[i],
            "a part has a spelling ({x:lower}, {x:05}) only in \"records\" and \"indexes\"");
    }
    static const char *const bad[] = {
        "{x:}",   "{x:Lower}",  "{x:5}",        "{x:0}",   "{x:00}", "{x:039}",   "{x:0123}",
        "{x:0a}", "{x:lower*}", "{x:05:lower}", "{x: 05}", "{x:-5}", "{x:lower }"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        check_key_refused(bad[i], "a part's colon is followed by lower, upper, or a 0 and a number "
                                  "of digits up to 38 ({score:05})");
    check_key_refused("{x*:05}", "a number with leading zeros contains no separator: remove the *");
    check_key_refused("{:05}", "a parameter's name is letters, digits, _ and -");
}

static void test_keys_are_spelled_as_the_format_says(void)
{
    check_key("U#{e:lower}", "U#ann@x", "e=ann@x");
    check_key("U#{e:lower}", "U#Ann@x", "no");
    check_key("U#{e:lower}", "U#\xc3\x84nn", "e=\xc3\x84nn"); /* whose case is not known here */
    check_key("{e:upper}#{f}", "A1#b", "e=A1,f=b");
    check_key("{e:upper}#{f}", "a1#b", "no");
    check_key("{e*:upper}", "A#B", "e=A#B");
    check_key("{e*:upper}", "A#b", "no");
    check_key("S#{n:05}#{id}", "S#00042#7", "n=42,id=7");
    check_key("S#{n:05}#{id}", "S#00000#7", "n=0,id=7");
    check_key("S#{n:05}", "S#99999", "n=99999");
    check_key("S#{n:05}", "S#0042", "no");
    check_key("S#{n:05}", "S#000042", "no");
    check_key("S#{n:05}", "S#abcde", "no");
    check_key("S#{n:05}", "S#-0042", "no");
    check_key("S#{n:05}", "S#", "no");
    check_key("{n:03}0{m:02}", "007042", "n=7,m=42");
}

static void check_read(const char *piece, const char *typed, const char *value, const char *in_key)
{
    struct format format = parse_key(piece);
    CLEAN_UP(buf_clean_up) struct buf got = {0}, key = {0};
    bool fits = format_read_part(format.pieces, span_text(typed), &got);
    format_write_part(format.pieces, span_text(typed), &key);
    arena_clean_up(&arena);
    CHECK_TEXT(fits ? buf_text(&got) : "no", value);
    CHECK_TEXT(buf_text(&key), in_key);
}

static void test_what_is_typed_is_read(void)
{
    check_read("{x}", "Ann 1", "Ann 1", "Ann 1");
    check_read("{x:lower}", "Ann-\xc3\x84", "ann-\xc3\x84", "ann-\xc3\x84");
    check_read("{x:upper}", "z", "Z", "Z");
    check_read("{x:05}", "42", "42", "00042");
    check_read("{x:05}", "00042", "42", "00042");
    check_read("{x:05}", "000042", "no", "000042"); /* which another key has */
    check_read("{x:05}", "0042", "no", "0042");
    check_read("{x:05}", "00", "no", "00");
    check_read("{x:05}", "00000", "0", "00000");
    check_read("{x:05}", "0", "0", "00000");
    check_read("{x:05}", "123456", "no", "123456");
    check_read("{x:05}", "-1", "no", "-1");
    check_read("{x:05}", "1.5", "no", "1.5");
    check_read("{x:05}", "", "no", "");
}

/* Whatever key is taken apart comes together again, and two keys have never the same parts. */
static void test_spelled_keys_lead_back(void)
{
    static const char alphabet[] = "0059aAzZ#-\xc3";
    static const char *const formats[] = {"{n:02}#{a:lower}", "{a:lower}-{n:03}", "{a*:upper}",
                                          "{n:04}"};
    size_t found = 0;
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        struct format format = parse_key(formats[f]);
        for (unsigned long number = 0; number < 11ul * 11 * 11 * 11 * 11; number++) {
            char key[6] = {0};
            size_t size = 1 + number % 5;
            for (unsigned long rest = number, i = 0; i < size; i++, rest /= 11)
                key[i] = alphabet[rest % 11];
            struct bindings parts = {0};
            if (!format_match_key(&format, span_of(key, size), '#', &parts))
                continue;
            CLEAN_UP(buf_clean_up) struct buf again = {0};
            found++;
            CHECK(format_expand(&format, &parts, &again));
            CHECK(span_equal(buf_span(&again), span_of(key, size)));
        }
    }
    arena_clean_up(&arena);
    CHECK(found > 1000);
}

static void test_what_is_parsed_is_written_the_same(void)
{
    check_written("");
    check_written("JOB");
    check_written("{a}");
    check_written("PLATFORM#{platform}#SHOP#{shop_id}");
    check_written("INDEX#{index_name}#QUERY#{query*}");
    check_written("{from}..{to}");
}

static void test_a_brace_needs_its_partner(void)
{
    check_refused("JOB#{a", "a { without its }");
    check_refused("JOB#a}", "a } without its {");
    check_refused("a}b{c}", "a } without its {");
}

static void test_a_parameter_has_a_name(void)
{
    check_refused("{}", "a parameter's name is letters, digits, _ and -");
    check_refused("{*}", "a parameter's name is letters, digits, _ and -");
    check_refused("{a b}", "a parameter's name is letters, digits, _ and -");
    check_refused("{1a}", "a parameter's name is letters, digits, _ and -");
    check_refused("{-a}", "a parameter's name is letters, digits, _ and -");
    check_refused("{a{b}", "a parameter's name is letters, digits, _ and -");
    check_refused("{gr\xc3\xbc}", "a parameter's name is letters, digits, _ and -");
}

static void test_two_parameters_need_a_text_between(void)
{
    check_refused("{a}{b}", "two parameters need a text between them");
}

static void test_there_is_a_most_of_pieces(void)
{
    check_written("{a}-{b}-{c}-{d}-{e}-{f}-{g}-{h}-{i}-{j}-{k}-{l}-");
    check_refused("{a}-{b}-{c}-{d}-{e}-{f}-{g}-{h}-{i}-{j}-{k}-{l}-{m}", "too many parameters");
}

static void test_an_open_part_says_so(void)
{
    struct format format = parse("Q#{query*}");
    bool open = format.pieces[1].open;
    char name[16];
    snprintf(name, sizeof name, "%s", format.pieces[1].param);
    arena_clean_up(&arena);
    CHECK(open);
    CHECK_TEXT(name, "query");
}

static void test_has_finds_parameters_only(void)
{
    struct format format = parse("a{b}c");
    bool has_b = format_has(&format, "b"), has_a = format_has(&format, "a");
    arena_clean_up(&arena);
    CHECK(has_b && !has_a);
}

static void test_literals(void)
{
    struct format empty = parse(""), text = parse("abc"), param = parse("{a}"),
                  both = parse("a{b}cd");
    bool ok = format_is_literal(&empty) && format_is_literal(&text) && !format_is_literal(&param) &&
              !format_is_literal(&both);
    size_t bytes = format_literal_bytes(&both);
    arena_clean_up(&arena);
    CHECK(ok);
    CHECK_INT(bytes, 3);
}

static bool equal(const char *a, const char *b)
{
    struct format left = parse(a), right = parse(b);
    bool same = format_equal(&left, &right);
    arena_clean_up(&arena);
    return same;
}

static void test_equality_is_of_text_and_names(void)
{
    CHECK(equal("a{b}", "a{b}"));
    CHECK(!equal("a{b}", "a{c}"));
    CHECK(!equal("a{b}", "x{b}"));
    CHECK(!equal("a{b}", "a{b}c"));
    CHECK(!equal("{b}", "b"));
}

static void test_expand_replaces_every_parameter(void)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct bindings bindings = {0};
    CHECK(bindings_add(&bindings, "a", span_text("1")) &&
          bindings_add(&bindings, "b", span_of("\0", 1)));
    struct format format = parse("x{a}y{b}z{a}");
    bool ok = format_expand(&format, &bindings, &out);
    arena_clean_up(&arena);
    CHECK(ok);
    CHECK_SPAN(buf_span(&out), span_of("x1y\0z1", 6));
}

static void test_expand_stops_at_the_first_unknown(void)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct bindings bindings = {0};
    CHECK(bindings_add(&bindings, "a", span_text("1")));
    struct format format = parse("x{a}y{b}z");
    bool ok = format_expand(&format, &bindings, &out);
    arena_clean_up(&arena);
    CHECK(!ok);
    CHECK_TEXT(buf_text(&out), "x1y");
}

static void test_bindings_are_bounded(void)
{
    struct bindings bindings = {0};
    for (int i = 0; i < BINDINGS_MAX; i++)
        CHECK(bindings_add(&bindings, "a", span_text("1")));
    CHECK(!bindings_add(&bindings, "a", span_text("1")));
    CHECK_INT(bindings.count, BINDINGS_MAX);
}

static void test_a_literal_matches_itself_alone(void)
{
    check_match("abc", "abc", "");
    check_match("abc", "abcd", "no");
    check_match("abc", "ab", "no");
    check_match("", "", "");
    check_match("", "a", "no");
}

static void test_a_parameter_takes_all_there_is(void)
{
    check_match("{a}", "x", "a=x");
    check_match("{a}", "x#y", "a=x#y");
    check_match("{a}", "", "no");
}

static void test_a_parameter_reaches_to_the_next_literal(void)
{
    check_match("{a}-{b}", "x-y-z", "a=x,b=y-z");
    check_match("{a}-{b}", "x", "no");
    check_match("{from}..{to}", "1..2", "from=1,to=2");
}

static void test_the_last_parameter_reaches_to_the_final_literal(void)
{
    check_match("{a}.d", "x.d.d", "a=x.d");
    check_match("{a}.d", "x.e", "no");
    check_match("{a}.d", ".d", "no");
    check_match("{a}-{b}.d", "x-y.d.d", "a=x,b=y.d");
}

static void test_no_piece_of_a_path_is_empty(void)
{
    check_match("{a}-{b}", "-y", "no");
    check_match("{a}-{b}", "x-", "no");
}

static void test_pieces_of_a_key_may_be_empty(void)
{
    check_key("{a}#{b}", "#y", "a=,b=y");
    check_key("{a}#{b}", "x#", "a=x,b=");
    check_key("INDEX#{a}", "INDEX#", "a=");
}

static void test_a_part_of_a_key_holds_no_separator(void)
{
    check_key("INDEX#{a}", "INDEX#x", "a=x");
    check_key("INDEX#{a}", "INDEX#x#PROFILE#y", "no");
    check_key("{a}#{b}", "x#y#z", "no");
}

static void test_an_open_part_holds_separators(void)
{
    check_key("INDEX#{a}#QUERY#{q*}", "INDEX#x#QUERY#y#z", "a=x,q=y#z");
    check_key("{a*}", "x#y", "a=x#y");
}

static void test_one_parameter_may_stand_twice(void)
{
    check_match("{a}-{a}", "x-y", "a=x,a=y");
}

static void test_a_failed_match_leaves_earlier_captures(void)
{
    struct bindings captures = {0};
    CHECK(bindings_add(&captures, "z", span_text("1")));
    struct format format = parse("{a}-{b}");
    bool ok = format_match(&format, span_text("x-"), &captures);
    arena_clean_up(&arena);
    CHECK(!ok);
    CHECK_INT(captures.count, 1);
}

static void test_no_room_is_no_match(void)
{
    struct bindings captures = {.count = BINDINGS_MAX - 1};
    struct format format = parse("{a}-{b}");
    bool ok = format_match(&format, span_text("x-y"), &captures);
    arena_clean_up(&arena);
    CHECK(!ok);
    CHECK_INT(captures.count, BINDINGS_MAX - 1);
}

static void test_overlap_of_a_literal_is_exact(void)
{
    CHECK(overlap("abc", "abc"));
    CHECK(!overlap("abc", "abd"));
    CHECK(overlap("abc", "{a}"));
    CHECK(overlap("a.d", "{a}.d"));
    CHECK(!overlap("a.e", "{a}.d"));
}

static void test_parts_without_separators_overlap_only_in_step(void)
{
    CHECK(!overlap_within("{r}#P#{p}", "{r}#Q#{q}"));
    CHECK(!overlap_within("{r}#P#{p}", "{r}#P#Q#{q}"));
    CHECK(!overlap_within("{r}#P#{p}", "{r}#PP#{p}"));
    CHECK(!overlap_within("{r}#{p}", "{r}"));
    CHECK(!overlap_within("{r}#P", "{r}#Q"));
    CHECK(!overlap_within("A#{a}", "{b}"));
    CHECK(!overlap_within("#{a}", "{b}#{c}")); /* no part is empty */
    CHECK(!overlap_within("x", "xy"));
    CHECK(overlap_within("{r}#P#{p}", "{r}#P#{q}"));
    CHECK(overlap_within("{r}#P#{p}", "{a}#{b}#{c}"));
    CHECK(overlap_within("A#{a}", "{b}#{c}"));
    CHECK(overlap_within("{r*}#P#{p}", "{r*}#Q#{q}"));
    CHECK(overlap_within("{r}#P#{p*}", "{r}#P#x#{q}"));
    CHECK(overlap_within("{r}-P-{p}", "{r}-Q-{q}")); /* "-" may stand in a part */
    CHECK(overlap_within("A{a}", "{b}"));
    CHECK(overlap_within("x", "x"));
}

static void test_overlap_looks_at_both_ends(void)
{
    CHECK(overlap("{a}", "{b}"));
    CHECK(overlap("{a}.d", "{b}"));
    CHECK(!overlap("{a}.d", "{b}.e"));
    CHECK(!overlap("x-{a}", "y-{b}"));
    CHECK(overlap("x-{a}", "x-y-{b}"));
    CHECK(overlap("x{a}", "{b}y"));
}

static const struct check_test tests[] = {
    {"how_a_key_spells_its_parts_is_written", test_how_a_key_spells_its_parts_is_written},
    {"the_notation_of_spellings", test_the_notation_of_spellings},
    {"keys_are_spelled_as_the_format_says", test_keys_are_spelled_as_the_format_says},
    {"what_is_typed_is_read", test_what_is_typed_is_read},
    {"spelled_keys_lead_back", test_spelled_keys_lead_back},
    {"what_is_parsed_is_written_the_same", test_what_is_parsed_is_written_the_same},
    {"a_brace_needs_its_partner", test_a_brace_needs_its_partner},
    {"a_parameter_has_a_name", test_a_parameter_has_a_name},
    {"two_parameters_need_a_text_between", test_two_parameters_need_a_text_between},
    {"there_is_a_most_of_pieces", test_there_is_a_most_of_pieces},
    {"an_open_part_says_so", test_an_open_part_says_so},
    {"has_finds_parameters_only", test_has_finds_parameters_only},
    {"literals", test_literals},
    {"equality_is_of_text_and_names", test_equality_is_of_text_and_names},
    {"expand_replaces_every_parameter", test_expand_replaces_every_parameter},
    {"expand_stops_at_the_first_unknown", test_expand_stops_at_the_first_unknown},
    {"bindings_are_bounded", test_bindings_are_bounded},
    {"a_literal_matches_itself_alone", test_a_literal_matches_itself_alone},
    {"a_parameter_takes_all_there_is", test_a_parameter_takes_all_there_is},
    {"a_parameter_reaches_to_the_next_literal", test_a_parameter_reaches_to_the_next_literal},
    {"the_last_parameter_reaches_to_the_final_literal",
     test_the_last_parameter_reaches_to_the_final_literal},
    {"no_piece_of_a_path_is_empty", test_no_piece_of_a_path_is_empty},
    {"pieces_of_a_key_may_be_empty", test_pieces_of_a_key_may_be_empty},
    {"a_part_of_a_key_holds_no_separator", test_a_part_of_a_key_holds_no_separator},
    {"an_open_part_holds_separators", test_an_open_part_holds_separators},
    {"one_parameter_may_stand_twice", test_one_parameter_may_stand_twice},
    {"a_failed_match_leaves_earlier_captures", test_a_failed_match_leaves_earlier_captures},
    {"no_room_is_no_match", test_no_room_is_no_match},
    {"overlap_of_a_literal_is_exact", test_overlap_of_a_literal_is_exact},
    {"parts_without_separators_overlap_only_in_step",
     test_parts_without_separators_overlap_only_in_step},
    {"overlap_looks_at_both_ends", test_overlap_looks_at_both_ends},
};

CHECK_MAIN(tests)
