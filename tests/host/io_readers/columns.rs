//! Tests of how the readers find the role of each field of a line: by the names of columns, and with semicolons and
//! tabs between fields.

use super::{assert_notice, assert_parse_error, edges, listed, parsed, read_as};
use fiedler::graph::{Conventions, Symmetrization};
use fiedler::io::NodeIds;

#[test]
fn columns_are_taken_by_their_names() {
    let want = [("10".to_owned(), "11".to_owned(), 5.0), ("11".into(), "12".into(), 6.0)];
    for content in [
        "weight,source,target\n5,10,11\n6,11,12\n",
        "Target;Weight;Source\n11;5;10\n12;6;11\n",
        "\"value\" \"from_id\" \"to_id\"\n5 10 11\n6 11 12\n",
        "src\tw\tdst\n10\t5\t11\n11\t6\t12\n",
        "u,v,w\n10,11,5\n11,12,6\n",
        "w,v,u\n5,11,10\n6,12,11\n",
        "ID_2,ID_1,Score\n11,10,5\n12,11,6\n",
    ] {
        let set = parsed(content);
        assert_eq!((edges(&set), set.notices.len()), (want.to_vec(), 0), "{content:?}");
    }
    // The index column of a table, which has no name.
    for content in [
        ",source,target,weight\n0,10,11,5\n1,11,12,6\n",
        "\tsource\ttarget\tweight\n0\t10\t11\t5\n1\t11\t12\t6\n",
        "\"\",\"from\",\"to\",\"weight\"\n\"1\",10,11,5\n\"2\",11,12,6\n",
    ] {
        let set = parsed(content);
        assert_eq!(edges(&set), want, "{content:?}");
        assert_notice(&set, Some(1), ":1: the column 1 (without a name) was not read.");
    }
    let set = parsed("Source,Target,Type,Id,Label,Weight\n10,11,Undirected,0,,5\n11,12,Undirected,1,,6\n");
    assert_eq!(edges(&set), want);
    assert_notice(&set, Some(1), "the columns `Type`, `Id` and `Label` were not read.");
    let set = parsed("source relation target\na likes b\n");
    assert_eq!(edges(&set), [("a".into(), "b".into(), 1.0)]);
    assert_notice(&set, Some(1), "the column `relation` was not read, and every edge weighs 1: no column is named");
    // The third column has the weights whatever its name is, which is told.
    for content in
        ["src,dst,time\n10,11,5\n11,12,6\n", "src dst time\n10 11 5\n11 12 6\n", ",a,b,time\n0,10,11,5\n1,11,12,6\n"]
    {
        let set = parsed(content);
        assert_eq!(edges(&set), want, "{content:?}");
        assert_notice(&set, Some(1), "the column `time` was read as the weights of the edges.");
    }
    // The names are also used if directions are kept. Above numbers they are used even if the names alone might be ids.
    let kept = Conventions { symmetrization: Symmetrization::Keep, ..Conventions::default() };
    for content in ["target,source\n1,2\n", "node2 node1\n1 2\n", "v,u\n1,2\n", "w,target,source\n1,1,2\n"] {
        let set = read_as("g.csv", content, &kept).unwrap();
        let rows: Vec<Vec<usize>> =
            (0..2).map(|row| set.graphs.graph(0).row(row).map(|entry| entry.0).collect()).collect();
        assert_eq!((rows, &set.node_ids), (vec![vec![], vec![0]], &Some(NodeIds::Integers(vec![1, 2]))), "{content:?}");
    }
    for content in ["node1 node2\nnode2 node3\n", "v u\nu x\n", "id weight\nweight mass\n"] {
        assert_eq!(listed(&parsed(content)).len(), 2, "{content:?}");
    }
    // Above text, they are names if neither is an id, and the ids are not of the same kind.
    for content in [
        "u,v\nalpha,beta\nbeta,gamma\n",
        "Node1;Node2\n-1;2\n2;01\n",
        "node_a node_b\nal bo\nbo cy\n",
        "i,j\n9223372036854775813,1\n1,2\n",
    ] {
        let set = parsed(content);
        assert_eq!(edges(&set).len(), 2, "{content:?}");
        assert_notice(&set, Some(1), "was read as the names of the columns, since neither is an id below it.");
    }
    for content in ["u,v\np,q\nq,r\n", "node1 node2\nnode3 node4\nnode4 node5\n"] {
        let set = parsed(content);
        assert_eq!(edges(&set).len(), 3, "{content:?}");
        assert_notice(&set, Some(1), "was read as an edge, though neither id occurs again");
    }
    let set = read_as("g.csv", "v,u\nbeta,alpha\ngamma,beta\n", &kept).unwrap();
    let row = |row| set.graphs.graph(0).row(row).map(|entry| entry.0).collect::<Vec<_>>();
    assert_eq!([row(0), row(1), row(2)], [vec![1], vec![2], vec![]]);
}

#[test]
fn names_that_contradict_their_positions_are_an_error() {
    for (content, line, words) in [
        ("weight,x,y\n5,1,2\n", 1, "the order source, target, weight, found `weight` as column 1"),
        ("# c\nx,source\n1,2\n", 2, "found `source` as column 2"),
        ("source weight\n1 5\n", 1, "found `weight` as column 2"),
        ("a,target,source_a,weight\n1,2,3,4\n", 1, "found a fourth column, \"weight\""),
        ("source,target,value,score\n1,2,3,4\n", 1, "found `value` and `score` for one column"),
        ("source,target,kind,weight\n1,2,3,4\n1,2,3\n", 3, "expected 4 columns, as the header names them, found 3"),
        ("src,dst,graph\n1,2,0\n", 1, "found `graph`, which only a table in Parquet or Arrow may have"),
        ("graph_id,u,v\ng,1,2\n", 1, "found `graph_id`, which only a table"),
        ("source,target,weight,num_nodes\n1,2,1,7\n", 1, "found `num_nodes`, which only a table"),
        ("weight,source,target\nx,1,2\n", 2, "a weight that is finite and not negative, found \"x\""),
        ("source,dst,target\n1,2,3\n", 1, "found `dst` and `target` for one column"),
        // Two indices of pandas before columns of unknown names.
        (
            ",index,a,b\n0,0,1,2\n",
            1,
            "`index` behind a column without a name, as if both were an index; drop the index",
        ),
        (",Unnamed: 0,a,b,c\n0,0,1,2,3\n", 1, "drop the index, or name the columns of both ids src and dst"),
        (",weight,a,b\n0,5,1,2\n", 1, "found `weight` as column 2"),
        (",a,weight\n0,1,5\n", 1, "found `weight` as column 3"),
    ] {
        let error = read_as("g.csv", content, &Conventions::default()).unwrap_err();
        assert_parse_error(&error, "g.csv", Some(line), words);
    }
    // The lines that are reported for refused edges are correct if columns are named.
    let both = Conventions { symmetrization: Symmetrization::Error, ..Conventions::default() };
    let error = read_as("g.csv", "w,target,source\n1,7,8\n1,8,7\n2,9,7\n", &both).unwrap_err();
    assert_parse_error(&error, "g.csv", Some(4), "the edge from node 7 to node 9 of weight 2, whose reverse is not");
}

#[test]
fn columns_of_other_names_are_told_of() {
    for content in ["follower,followee\n1,2\n2,3\n", "# c\nfollower followee\n1 9000000000\n"] {
        let set = parsed(content);
        let line = if content.starts_with('#') { 2 } else { 1 };
        assert_notice(&set, Some(line), "the columns `follower` and `followee` were read as the ends of the edges.");
    }
    let set = parsed("head,tail,time\n10,11,5\n");
    assert_notice(
        &set,
        Some(1),
        "the columns `head` and `tail` were read as the ends of the edges. the column `time` was",
    );
    for known in ["u,v\n1,2\n", "target;source\n1;2\n", "id1 id2 weight\n1 2 3\n", ",index,src,dst,w\n0,0,10,11,5\n"] {
        let notices = parsed(known).notices;
        assert!(notices.iter().all(|notice| !notice.contains("were read as the ends")), "{notices:?}");
    }
}

#[test]
fn a_third_field_that_is_no_number_has_no_weights_beside_named_ends() {
    for (content, notice) in [
        ("src,dst,kind\nann,bob,friend\nbob,cid,boss\n", "the column `kind` was not read, and every edge weighs 1"),
        ("u;v;score\nann;bob;high\nbob;cid;low\n", "the column `score` was not read"),
        ("dst,src,label\nbob,ann,\ncid,bob,x\n", "the column `label` was not read"),
        ("a,b,session_id\nann,bob,1\nbob,cid,2\n", "the column `session_id` was not read"),
        (",a,b,id\n0,ann,bob,1\n1,bob,cid,2\n", "the columns 1 (without a name) and `id` were not read"),
    ] {
        let set = parsed(content);
        assert!(set.graphs.weights().is_none(), "{content:?}");
        assert_eq!(listed(&set).len(), 2, "{content:?}");
        assert_notice(&set, Some(1), notice);
    }
    for content in [
        "src,dst,weight\nann,bob,x\n",
        "src,dst,value\nann,bob,\n",
        "src,dst,kind\nann,bob,1\nbob,cid,x\n",
        "a,b,kind\nann,bob,friend\n",
    ] {
        let error = read_as("g.csv", content, &Conventions::default()).unwrap_err();
        assert!(error.to_string().contains("a weight that is finite and not negative"), "{error}");
    }
    let set = parsed("src;dst;score\n1;2;0,5\n2;3;1,5\n");
    assert!(set.graphs.weights().is_some());
}

#[test]
fn an_index_before_the_ends_is_not_read() {
    for content in [
        "index,p,q\n0,7,8\n1,8,9\n",
        "Index,p,q,weight\n1,7,8,1\n# c\n2,8,9,1\n",
        "Unnamed: 0,p,q\n20,7,8\n0,8,9\n",
        "__index_level_0__,p,q\na,7,8\nb,8,9\n",
    ] {
        let set = parsed(content);
        assert_eq!(set.node_ids, Some(NodeIds::Integers(vec![7, 8, 9])), "{content:?}");
        assert!(set.notices[0].contains("the columns `p` and `q` were read as the ends"), "{:?}", set.notices);
    }
    // Nearest neighbors, whose sources do not count the rows.
    let set = parsed("index,neighbor,distance\n0,1,0.5\n0,2,1.5\n1,2,0.5\n");
    assert_eq!((set.graphs.nodes(), listed(&set).len()), (3, 3));
    // Or do, before distances, which are no ids.
    for content in [
        "index,neighbor,distance\n0,3,0.5\n1,2,0.25\n2,1,0.25\n3,0,0.5\n",
        "index;neighbor;distance\n0;3;0,5\n1;2;0,25\n2;1;0,25\n3;0;0,5\n",
        "index,neighbor,distance\n0,3,2.0\n1,2,1.0\n2,1,1.0\n3,0,2.0\n",
        "index,neighbor,distance\n0,3,1\n1,2,0.25\n2,1,0.25\n3,0,1\n",
    ] {
        let set = parsed(content);
        assert_eq!((set.graphs.nodes(), &set.node_ids, listed(&set)), (4, &None, vec!["0-3".into(), "1-2".into()]));
        assert!(set.notices[0].contains("the column `distance` was read as the weights"), "{:?}", set.notices);
    }
    let set = parsed("index,neighbor\n0,5\n1,6\n");
    assert_eq!(set.graphs.nodes(), 4);
    let content = "Unnamed: 0,index,a,b\n0,0,1,2\n";
    let error = read_as("g.csv", content, &Conventions::default()).unwrap_err();
    assert_parse_error(&error, "g.csv", Some(1), "`index` behind `Unnamed: 0`, as if both were an index");
}

#[test]
fn comments_that_may_be_edges_are_counted() {
    let words =
        "2 lines that begin with # were taken for comments; if they are edges, put ids that begin with # in quotes.";
    let set = parsed("source,target\nann,#ml\n#ml,bob\n#ml,cid\n# a comment, of two parts\n#ml,a,b\n");
    assert_eq!(listed(&set).len(), 1);
    assert_notice(&set, Some(3), words);
    let set = parsed("source,target\n#ml,bob\nann,#ml\n");
    assert_notice(&set, Some(2), "1 line that begins with # was taken for a comment; if it is an edge, put ids");
    let set = parsed("ann #ml 1\n#ml bob 2\n#ml bob x\n");
    assert_notice(&set, Some(2), "part the fields by commas and put ids that begin with # in quotes");
    let set = parsed("source,target\nann,\"#ml\"\n\"#ml\",bob\n\"#ml\",cid\n");
    assert_eq!((set.graphs.nodes(), set.notices.len()), (4, 0));
    let set = parsed("source,target\n%3A,b\n%3B,c\n% a comment, of two parts\nc,d\n");
    assert_eq!(listed(&set), ["c-d"]);
    assert_notice(&set, Some(2), &words.replace('#', "%"));
    let set = parsed("source,target\nc,d\n%3A,b\n#ml,c\n%3B,c\n");
    assert_notice(&set, Some(3), "3 lines that begin with # or % were taken for comments; if they are edges, put ids");
    // Before the edges, and without their form, comments are only that.
    for content in ["#a b\n1 2\n2 3\n", "1,2\n# 2,3\n#note\n3,4\n", "##x,y\nsrc,dst\n1,2\n##x,y\n"] {
        for content in [content.to_owned(), content.replace('#', "%")] {
            assert_eq!(parsed(&content).notices.len(), 0, "{content:?}");
        }
    }
}

#[test]
fn cells_with_lists_are_refused() {
    for (content, line, list) in [
        ("src,dst\n\"[0, 1]\",\"[1, 2]\"\n\"[0]\",\"[1]\"\n", 2, "\"[0, 1]\""),
        (",src,dst\n0,[0],[1]\n1,\"[0, 1]\",\"[1, 2]\"\n", 3, "\"[0, 1]\""),
        ("src,dst\n[0 1],[1 2]\n", 2, "\"[0 1]\""),
        ("sources,targets\n\"['a', 'b']\",\"['b', 'c']\"\n", 2, "\"['a', 'b']\""),
        ("id,edge_index\n0,\"[[0, 1], [1, 2]]\"\n", 2, "\"[[0, 1], [1, 2]]\""),
    ] {
        let error = read_as("g.csv", content, &Conventions::default()).unwrap_err();
        let words = format!("two ids of nodes in each row, found a list, {list}; store a table of lists in Parquet");
        assert_parse_error(&error, "g.csv", Some(line), &words);
    }
    // Ids in brackets, and a list among other ids.
    for content in ["src,dst\n[1],[2]\n[2],[3]\n", "src,dst\n[Na+],[Cl-]\n[K+],[Cl-]\n", "src,dst\n\"[0, 1]\",x\nx,y\n"]
    {
        assert_eq!(edges(&parsed(content)).len(), 2, "{content:?}");
    }
}

#[test]
fn semicolons_on_every_line_separate_the_fields() {
    let of = |a: &str, b: &str, weight: f64| (a.to_owned(), b.to_owned(), weight);
    for (content, want) in [
        ("0;1;0,5\n1;2;1,5\n", [of("0", "1", 0.5), of("1", "2", 1.5)]),
        ("0; 1; 0.5\n1; 2; 1e1\n", [of("0", "1", 0.5), of("1", "2", 10.0)]),
        ("a;b\nb;c\n", [of("a", "b", 1.0), of("b", "c", 1.0)]),
        // A number with a decimal comma is no name of a column.
        ("Köln;Bonn;25,3\nBonn;Aachen;90,1\n", [of("Köln", "Bonn", 25.3), of("Bonn", "Aachen", 90.1)]),
        (
            "\"Köln\";\"Bonn\";\"25,3\"\n\"Bonn\";\"Aachen\";90\n",
            [of("Köln", "Bonn", 25.3), of("Bonn", "Aachen", 90.0)],
        ),
        ("von;nach;Länge\n0;1;0,5\n1;2;3\n", [of("0", "1", 0.5), of("1", "2", 3.0)]),
        ("3 2\n0;1;0,5\n1;2;3\n", [of("0", "1", 0.5), of("1", "2", 3.0)]),
        ("3;2\n0;1\n1;2\n", [of("0", "1", 1.0), of("1", "2", 1.0)]),
        ("Rome;Oslo\nOslo;Paris, France\n", [of("Rome", "Oslo", 1.0), of("Oslo", "Paris, France", 1.0)]),
        ("New York;Oslo\nOslo;Los Angeles\n", [of("New York", "Oslo", 1.0), of("Oslo", "Los Angeles", 1.0)]),
        ("team 1;team 2\nteam 2;team 3\n", [of("team 1", "team 2", 1.0), of("team 2", "team 3", 1.0)]),
        ("\"a;1\";b\nb;c\n", [of("a;1", "b", 1.0), of("b", "c", 1.0)]),
        // Semicolons that are not between fields, or not on every line, are part of the ids.
        ("\"a;1\",\"b;1\"\n\"b;1\",\"c;1\"\n", [of("a;1", "b;1", 1.0), of("b;1", "c;1", 1.0)]),
        ("a;1 b;x\nb;x c;y\n", [of("a;1", "b;x", 1.0), of("b;x", "c;y", 1.0)]),
        ("a;1 b\nb c\n", [of("a;1", "b", 1.0), of("b", "c", 1.0)]),
    ] {
        assert_eq!(edges(&parsed(content)), want, "{content:?}");
    }
    for (content, line, words) in [
        (
            "# c\nx;1,y;2\n",
            2,
            "expected fields whose separator is certain, found fields that semicolons part as well as commas",
        ),
        ("x;1 y;2\n", 1, "semicolons part as well as white space"),
        ("0;1;1,2,3\n", 1, "a weight that is finite and not negative, found \"1,2,3\""),
        ("0;1;2;3\n", 1, "found a fourth column, \"3\""),
        ("Köln;Bonn;1.234,5\nBonn;Aachen;90,1\n", 1, "a weight that is finite and not negative, found \"1.234,5\""),
    ] {
        let error = read_as("g.txt", content, &Conventions::default()).unwrap_err();
        assert_parse_error(&error, "g.txt", Some(line), words);
    }
}

#[test]
fn tabs_on_every_line_leave_spaces_to_the_ids() {
    let of = |a: &str, b: &str, weight: f64| (a.to_owned(), b.to_owned(), weight);
    for (content, want) in [
        ("al b\tbo c\nbo c\tcy\n", [of("al b", "bo c", 1.0), of("bo c", "cy", 1.0)]),
        ("al b\tbo c\t0.5\nbo c\tcy\t2\n", [of("al b", "bo c", 0.5), of("bo c", "cy", 2.0)]),
        // Spaces within ids: only in later lines, below a header with counts, and next to commas within ids.
        ("bo\tcy\ncy\tal b\n", [of("bo", "cy", 1.0), of("cy", "al b", 1.0)]),
        ("3\t2\nal b\tbo c\nbo c\tcy\n", [of("al b", "bo c", 1.0), of("bo c", "cy", 1.0)]),
        ("B, Al\tC, Bo\nC, Bo\tD, Cy\n", [of("B, Al", "C, Bo", 1.0), of("C, Bo", "D, Cy", 1.0)]),
        // Between numbers, and next to a comma, a space is equivalent to a tab.
        ("1\t2 5\n2\t3 0.5\n", [of("1", "2", 5.0), of("2", "3", 0.5)]),
        ("0\t1\n1 2\n", [of("0", "1", 1.0), of("1", "2", 1.0)]),
        ("\ta \t b\t\n\tb\tc\n", [of("a", "b", 1.0), of("b", "c", 1.0)]),
        ("0,\t1\n1,\t2\n", [of("0", "1", 1.0), of("1", "2", 1.0)]),
    ] {
        assert_eq!(edges(&parsed(content)), want, "{content:?}");
    }
    for (content, line, words) in [
        ("New York\t3\n", 1, "found fields that tabs part as well as white space"),
        ("a\tb,c\n", 1, "found fields that tabs part as well as commas"),
        ("0\t1\n0\t2\n1\t2 junk\n", 3, "expected two ids, as in the lines before, found \"1\\t2 junk\""),
    ] {
        let error = read_as("g.txt", content, &Conventions::default()).unwrap_err();
        assert_parse_error(&error, "g.txt", Some(line), words);
    }
}
